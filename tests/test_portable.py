"""Nothing that only some systems have is required: Unix modules, memory disks, special paths.

Most machines that run the tests have neither Windows nor macOS. Any machine can test that our
modules import, and that a library is built and searched, without these things.
"""

import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import mathsetu
from mathsetu.errors import InputError
from mathsetu.library import lock
from mathsetu.library.lock import writing_alone

PACKAGE = Path(mathsetu.__file__).parent
#: Modules of the standard library that Windows does not have.
UNIX = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty")
#: Attributes of ``os``, ``socket`` and ``signal`` that Windows, or macOS, does not have.
UNIX_ATTRIBUTES = {
    "os": {
        "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "fork", "geteuid", "getuid", "killpg", "mkfifo",
        "pread", "register_at_fork", "sched_getaffinity", "setsid", "statvfs", "uname",
    },
    "signal": {"SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGUSR1", "SIGUSR2"},
    "socket": {"AF_UNIX", "SO_REUSEPORT"},
}  # fmt: skip

WITHOUT = f"""
import builtins, sys

real = builtins.__import__

def without(name, scope=None, *rest):
    # Other libraries look after themselves.
    if name in {UNIX!r} and str((scope or {{}}).get("__name__", "")).startswith("mathsetu"):
        raise ImportError(f"no module named {{name}} here", name=name)
    return real(name, scope, *rest)

builtins.__import__ = without
"""

IMPORT_ALL = (
    WITHOUT
    + """
import importlib, pkgutil
import mathsetu
from mathsetu.errors import MissingExtra

failed = []
def every(package):
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        if module.name.endswith("__main__") or "._" in module.name:
            continue
        try:
            imported = importlib.import_module(module.name)
        except (ImportError, MissingExtra) as error:
            # An extra that is not installed here is no fault of ours.
            missing = getattr(error.__cause__ or error, "name", None) or "mathsetu"
            if missing in sys.argv[1].split(",") or missing.startswith("mathsetu"):
                failed.append(f"{module.name}: {error}")
        else:
            if module.ispkg:
                every(imported)

every(mathsetu)
print("\\n".join(failed))
"""
)

BUILD_AND_SEARCH = (
    WITHOUT
    + """
from pathlib import Path
from mathsetu.library import Library, build_library
from mathsetu.records import Post
from mathsetu.service.connection import _open_files
from mathsetu.service.metrics import Metrics
from tests.light import LIGHT

build_library(sys.argv[1], [Post("a", "A prime $p$."), Post("b", "A ring.")], LIGHT, processes=2)
print([hit.id for hit in Library(sys.argv[1]).search("prime", 2)])
assert "mathsetu_memory_peak_bytes 0" in Metrics().text({})
assert _open_files() == sys.maxsize
"""
)


def output(code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *arguments],
        cwd=PACKAGE.parents[1],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.thorough
def test_every_module_imports_without_the_modules_of_unix() -> None:
    assert output(IMPORT_ALL, ",".join(UNIX)) == ""


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="Windows really is without them")
def test_a_library_is_built_and_searched_without_the_modules_of_unix(tmp_path: Path) -> None:
    assert output(BUILD_AND_SEARCH, str(tmp_path / "library")) == "['a']"


@pytest.mark.thorough
def test_modules_and_attributes_of_unix_are_used_only_with_an_alternative() -> None:
    """A module of Unix is imported inside ``try``, an attribute looked up by ``getattr``."""
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        careful = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.Try | ast.IfExp | ast.If)
            for inner in ast.walk(node)
        }
        for node in ast.walk(tree):
            if id(node) in careful:
                continue
            if isinstance(node, ast.Import):
                wrong += [f"{path.name}: {a.name}" for a in node.names if a.name in UNIX]
            elif isinstance(node, ast.ImportFrom):
                wrong += [f"{path.name}: {node.module}"] * (node.module in UNIX)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                known = UNIX_ATTRIBUTES.get(node.value.id, set())
                wrong += [f"{path.name}: {node.value.id}.{node.attr}"] * (node.attr in known)
    assert wrong == []


def test_no_module_names_a_path_that_only_some_systems_have() -> None:
    """No memory disk, and no fixed ``/proc`` or ``/tmp``."""
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert "/dev/shm" not in text, path
        assert '"/proc' not in text, path
        assert '"/tmp' not in text, path


class Windows(ModuleType):
    """Locks like those of Windows: bytes of open files, each locked by one process."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.held = False

    def locking(self, descriptor: int, mode: int, count: int) -> None:
        assert (mode, count) == (self.LK_NBLCK, 1)
        if self.held:
            raise OSError(13, "Permission denied")
        self.held = True


def test_the_lock_of_windows_is_used_if_there_is_no_fcntl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = Windows()
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", windows)
    with writing_alone(tmp_path / "library"):
        assert windows.held
        monkeypatch.setattr(lock, "_writing", set())  # as another process sees it
        with pytest.raises(InputError, match="is locked by another writer"):
            writing_alone(tmp_path / "library").__enter__()
        monkeypatch.setattr(lock, "_writing", {(tmp_path / "library").resolve()})


def test_a_library_can_be_written_on_a_system_without_file_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", None)
    with writing_alone(tmp_path / "library"):
        assert (tmp_path / "library").is_dir()
