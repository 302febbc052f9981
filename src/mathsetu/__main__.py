"""``python -m mathsetu`` is the command ``mathsetu``."""

from mathsetu.cli import main

if __name__ == "__main__":
    main()
