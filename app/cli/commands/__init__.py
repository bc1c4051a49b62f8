"""The commands: publish, attack, check and demo."""
