"""A picture of each member of the families of the reference, by one module of `families` for each family.

`python docs/pictures/members.py` writes all of them; `python docs/pictures/members.py attacks measures` writes two families.
Programs, and the knowledge that is sampled, take minutes; the others take seconds. The seeds are fixed. Run it again after a
change of an object that it shows, and look at the result.
"""

import sys
from pathlib import Path

from families.attacks import attack_pictures
from families.defenses import defense_pictures
from families.drawing import save
from families.estimators import estimator_pictures
from families.joint_solvers import joint_solver_pictures
from families.knowledge import knowledge_pictures
from families.measures import measure_pictures
from families.programs import program_pictures
from families.requirements import requirement_pictures

HERE = Path(__file__).parent

FAMILIES = {
    "defenses": defense_pictures,
    "attacks": attack_pictures,
    "estimators": estimator_pictures,
    "joint-solvers": joint_solver_pictures,
    "programs": program_pictures,
    "measures": measure_pictures,
    "requirements": requirement_pictures,
    "knowledge": knowledge_pictures,
}


def main(families: list[str]) -> None:
    """Write the pictures of the families into a folder for each."""
    for family in families or FAMILIES:
        (HERE / family).mkdir(exist_ok=True)
        for name, figure in FAMILIES[family]():
            save(figure, HERE / family / f"{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
