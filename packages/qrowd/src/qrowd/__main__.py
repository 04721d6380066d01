"""`python -m qrowd` is the command `qrowd`."""

from qrowd.cli.main import run

if __name__ == "__main__":
    run()
