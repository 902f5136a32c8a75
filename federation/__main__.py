"""`python -m federation` is the command `causeway`."""

from federation.cli import main

if __name__ == "__main__":
    main()
