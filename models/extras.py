"""Extras: optional packages, and the command that installs them."""


def installing(extra: str) -> str:
    """Command that installs the packages of an extra, in the words of a message.

    >>> installing("report")
    "pip install '.[report]' in the folder of foreknow's sources"
    """
    return f"pip install '.[{extra}]' in the folder of foreknow's sources"
