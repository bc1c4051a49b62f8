"""Files of the package that a call enters: those with a function that runs during it, imports left out."""

import sys
from pathlib import Path

from places import ROOT

FOLDERS = ("models", "attacks", "defenses", "evaluation", "app", "package")


def entered_files(call):
    """Paths, relative to the root, of the files that a second call enters; the first one imports and compiles."""
    call()
    found, monitoring = set(), sys.monitoring
    monitoring.use_tool_id(monitoring.PROFILER_ID, "entered files")

    def entered(code, _offset):
        if code.co_name != "<module>":
            found.add(code.co_filename)
        return monitoring.DISABLE

    monitoring.register_callback(monitoring.PROFILER_ID, monitoring.events.PY_START, entered)
    monitoring.set_events(monitoring.PROFILER_ID, monitoring.events.PY_START)
    try:
        call()
    finally:
        monitoring.set_events(monitoring.PROFILER_ID, 0)
        monitoring.free_tool_id(monitoring.PROFILER_ID)
        monitoring.restart_events()
    paths = {Path(name).resolve() for name in found if not name.startswith("<")}
    return sorted(
        path.relative_to(ROOT).as_posix()
        for path in paths
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in FOLDERS
    )
