"""The files of a revision: what they lead to, what is not there, and that nothing else is read or run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dispatch_cli.declarations.loader import load
from dispatch_cli.extract.left_out import WhyLeftOut
from dispatch_cli.extract.run import run
from dispatch_cli.files import RevisionError, paths
from dispatch_cli.files import git as git_module
from dispatch_cli.files.asked import resolve
from dispatch_cli.model.declarations import Declarations, Define, Implement
from dispatch_cli.model.problem import InputError, Problem
from tests.files.support import commit, git, repository, write

HEAD = "dispatch: 1\n"
OPERATOR = "dispatch: 1\noperators: [{func: 'm::op(Tensor x) -> Tensor', dispatch: {CPU: kernel}}]\n"
OTHER = "dispatch: 1\noperators: [{func: 'm::other(Tensor x) -> Tensor'}]\n"
BLOCK = 'TORCH_LIBRARY_IMPL(m, KEY, m) { m.impl("op", kernel); }\n'


@pytest.fixture(autouse=True)
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory is an empty repository."""
    folder = repository(tmp_path / "repo")
    monkeypatch.chdir(folder)
    yield folder
    paths.close_trees()


def problems_of(name: str, allow_outside: bool = False) -> list[Problem]:
    with pytest.raises(InputError) as caught:
        load(resolve([name]), allow_outside=allow_outside)
    return list(caught.value.problems)


def spans(declarations: Declarations) -> list[str]:
    """Places where operators and kernels are declared."""
    return [str(step.span) for step in declarations.steps if isinstance(step, Define | Implement)]


def test_what_a_file_extends_is_read_at_its_revision(repo: Path) -> None:
    """Also where it lies above the file, and with a universe of its own; places have the revision."""
    commit(repo, {"base.yaml": OPERATOR, "sub/decl.yaml": "dispatch: 1\nextends: [../base.yaml]\n"}, tag="v1")
    commit(repo, {"base.yaml": OTHER, "sub/decl.yaml": HEAD})
    write(repo, {"base.yaml": "broken", "sub/decl.yaml": "broken"})
    declarations = load(resolve(["v1:sub/decl.yaml"]))
    assert declarations.files == ("v1:sub/decl.yaml", "v1:sub/../base.yaml")
    assert spans(declarations)[0] == "v1:sub/../base.yaml:2:20"
    assert [origin.through[0].file for origin in declarations.inherited] == ["v1:sub/decl.yaml"]


@pytest.mark.parametrize("allow_outside", [False, True])
@pytest.mark.parametrize(
    "target", ["/etc/passwd", "../../outside.yaml", "out.yaml", "up/outside.yaml", "../repo/base.yaml", "~/x.yaml"]
)
def test_nothing_outside_of_the_repository_is_read(target: str, allow_outside: bool, repo: Path) -> None:
    """Whatever it is called, and whatever is allowed."""
    write(repo.parent, {"outside.yaml": OPERATOR})
    commit(repo, {"decl.yaml": f"dispatch: 1\nextends: [{target}]\n", "up": "->..", "out.yaml": "->../outside.yaml"})
    write(repo, {"base.yaml": OPERATOR})
    (problem,) = problems_of("HEAD:decl.yaml", allow_outside)
    code = {"~/x.yaml": "file-not-found", "up/outside.yaml": "file-not-found", "out.yaml": "not-a-file"}
    assert problem.code == code.get(target, "outside-project")
    assert str(problem.span) == "HEAD:decl.yaml:2:11"


@pytest.mark.parametrize("target", ["b.yaml", "a.yaml", "nothing", "/etc/passwd", "../../etc/passwd", "sub/" * 1000])
def test_links_are_not_followed(target: str, repo: Path) -> None:
    """Sources that are links are said to be left out, also where the files that they lead to are read."""
    links = {"a.yaml": f"->{target}", "b.cpp": "->sub/a.cpp", "to": "->sub"}
    commit(repo, {"b.yaml": OPERATOR, "sub/a.cpp": BLOCK.replace("KEY", "CPU"), **links})
    (problem,) = problems_of("HEAD:a.yaml")
    assert problem.message == "HEAD:a.yaml is a link, which is not followed at a revision"
    assert problems_of("HEAD:to/a.cpp")[0].code == "file-not-found"
    done = run(resolve(["HEAD:"]))
    assert done.registrations == 1
    left_out = {part.path: part.reason for part in done.left_out}
    assert left_out == {
        "HEAD:.git": WhyLeftOut.TOOL,
        "HEAD:b.cpp": WhyLeftOut.LINK,
        "HEAD:to": WhyLeftOut.LINK,
    }


def test_submodules(repo: Path) -> None:
    commit(repo, {"decl.yaml": OPERATOR})
    name = git(repo, "rev-parse", "HEAD").strip()
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{name},lib")
    git(repo, "commit", "-q", "-m", "a submodule")
    assert problems_of("HEAD:lib/a.yaml")[0].code == "file-not-found"
    assert problems_of("HEAD:lib/.git")[0].code == "not-a-file"
    left_out = {omission.path: omission.reason for omission in run(resolve(["HEAD:"])).left_out}
    assert left_out == {"HEAD:.git": WhyLeftOut.TOOL, "HEAD:lib": WhyLeftOut.REPOSITORY}


def test_binary_files_and_large_ones(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(repo, {"large.yaml": HEAD + "#" * 5000, "binary.yaml": "dispatch: 1\n\0", "binary.cpp": "a\0b"})
    monkeypatch.setattr("dispatch_cli.files.git.MAX_OUTPUT", 4000)
    assert problems_of("HEAD:large.yaml")[0].code == "too-large"
    assert problems_of("HEAD:binary.yaml")
    reasons = {omission.path: omission.reason for omission in run(resolve(["HEAD:"])).left_out}
    del reasons["HEAD:.git"]
    binary = dict.fromkeys(("HEAD:binary.cpp", "HEAD:binary.yaml"), WhyLeftOut.BINARY)
    assert reasons == {**binary, "HEAD:large.yaml": WhyLeftOut.TOO_LARGE}


def test_one_revision_is_not_another(repo: Path) -> None:
    """The name of a branch stays, and its files change; a header besides is looked at, too."""
    project = "[tool.dispatch-cli.extract]\ninclude = ['include']\nexclude = ['include']\n"
    files = {"csrc/a.cpp": '#include "keys.h"\n' + BLOCK, "include/keys.h": "#define KEY CPU\n"}
    commit(repo, {**files, "pyproject.toml": project}, tag="v1")

    def key(name: str) -> str:
        from dispatch_cli.cli.source_reading import settings_of_projects

        (file,) = resolve([name])
        settings = next(settings_of_projects([file], None, False))
        done = run([file], (settings,))
        paths.close_trees()
        (block,) = done.document["libraries"]
        return str(block["dispatch_key"])

    assert [key("main:csrc"), key("v1:csrc"), key("main:csrc")] == ["CPU"] * 3
    commit(repo, {"include/keys.h": "#define KEY CUDA\n"})
    write(repo, {"include/keys.h": "#define KEY XLA\n"})
    assert [key("main:csrc"), key("v1:csrc"), key("csrc")] == ["CUDA", "CPU", "XLA"]


PROGRAM = "#!/bin/sh\necho ran >> {ran}\nexit 1\n"


def test_nothing_that_a_repository_names_is_run(repo: Path, tmp_path: Path) -> None:
    """Its configuration names a program wherever one can be named, its hooks are programs, and so are attributes'."""
    ran, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(PROGRAM.format(ran=ran), encoding="utf-8")
    program.chmod(0o755)
    attributes = "* filter=evil diff=evil merge=evil\n"
    commit(repo, {"decl.yaml": OPERATOR, "csrc/a.cpp": BLOCK.replace("KEY", "CPU"), ".gitattributes": attributes})
    settings = (
        *("core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy"),
        *("core.alternateRefsCommand", "diff.external", "diff.evil.textconv", "diff.evil.command", "pager.cat-file"),
        *("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "gpg.program", "sequence.editor"),
        *("alias.cat-file", "alias.rev-parse", "credential.helper", "uploadpack.packObjectsHook", "pager.rev-parse"),
        *("remote.origin.uploadpack", "merge.evil.driver", "interactive.diffFilter"),
    )
    options = {name: f"!{program}" if name.startswith("alias") else str(program) for name in settings}
    options |= {"remote.origin.url": str(repo), "remote.origin.promisor": "true", "extensions.partialClone": "origin"}
    options |= {"core.repositoryFormatVersion": "1", "core.hooksPath": str(tmp_path / "hooks")}
    with (repo / ".git" / "config").open("a", encoding="utf-8") as config:
        for name, value in options.items():
            section, _, last = name.rpartition(".")
            head, _, below = section.partition(".")
            config.write(f'[{head} "{below}"]\n{last} = {value}\n' if below else f"[{head}]\n{last} = {value}\n")
    for folder in (repo / ".git" / "hooks", tmp_path / "hooks"):
        folder.mkdir(exist_ok=True)
        for hook in ("post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman"):
            (folder / hook).write_text(PROGRAM.format(ran=ran), encoding="utf-8")
            (folder / hook).chmod(0o755)
    before = sorted(path for path in (repo / ".git").rglob("*"))
    assert load(resolve(["HEAD:decl.yaml"])).steps
    assert run(resolve(["HEAD:csrc"])).registrations == 1
    with pytest.raises(InputError):
        resolve(["mian:decl.yaml"])
    missing = [git(repo, "rev-parse", name).strip() for name in ("HEAD:decl.yaml", "HEAD:csrc")]
    for name, message in zip(missing, ("not in this clone", "cannot be listed"), strict=True):
        (repo / ".git" / "objects" / name[:2] / name[2:]).unlink()
        paths.close_trees()
        (problem,) = problems_of("HEAD:decl.yaml")  # which a partial clone would fetch
        assert problem.code == "missing-object"
        assert message in problem.message
    assert not ran.exists()
    gone = {name[2:] for name in missing}
    assert sorted(path for path in (repo / ".git").rglob("*")) == [path for path in before if path.name not in gone]


def test_objects_are_not_replaced(repo: Path) -> None:
    commit(repo, {"decl.yaml": OPERATOR, "other.yaml": OTHER})
    git(repo, "replace", *(git(repo, "rev-parse", f"HEAD:{name}").strip() for name in ("decl.yaml", "other.yaml")))
    assert "m::other" in git(repo, "show", "HEAD:decl.yaml")
    assert len(spans(load(resolve(["HEAD:decl.yaml"])))) == 2


def raw_tree(repo: Path, *entries: tuple[bytes, bytes]) -> str:
    """The name of a revision of files with these modes and names, and of a good one."""
    blob = bytes.fromhex(git(repo, "hash-object", "-w", "--stdin").strip())
    content = b"".join(mode + b" " + name + b"\0" + blob for mode, name in (*entries, (b"100644", b"good.yaml")))
    (repo / "raw").write_bytes(content)
    return git(repo, "hash-object", "--literally", "-t", "tree", "-w", "raw").strip()


def test_entries_that_no_checkout_has_are_not_there(repo: Path) -> None:
    """Raw trees can have any names and modes."""
    names = [(b"100644", name) for name in (b"..", b"a/b", b".git", b".GIT", b".", b"x\ny")]
    (name,) = resolve([f"{raw_tree(repo, *names, (b'777', b'odd'))}:"])
    assert sorted(entry.name for entry in paths.each_entry(name)) == [".git", "good.yaml", "odd", "x\ny"]
    for inside in ("odd", "..", "a/b", "a", ".git/config"):
        with pytest.raises(InputError):
            load([f"{name}{inside}"])


def test_a_git_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_module, "PATIENCE", 0.2)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for script, message in (("exec sleep 20", "took more than"), ("exit 0", "ended"), ("echo odd; cat", "ended")):
        (tmp_path / "git").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (tmp_path / "git").chmod(0o755)
        objects = git_module.Objects()
        with pytest.raises(RevisionError, match=message):
            objects.content("0" * 40)
        objects.close()
    (tmp_path / "git").write_text("#!/bin/sh\nexec sleep 20\n", encoding="utf-8")
    with pytest.raises(RevisionError, match="git rev-parse took more than"):
        git_module.attempt("rev-parse", "HEAD")


def test_a_repository_with_sha256(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(tmp_path / "new", "--object-format=sha256")
    commit(folder, {"sub/decl.yaml": OPERATOR})
    monkeypatch.chdir(folder)
    assert load(resolve(["HEAD:sub/decl.yaml"])).steps


def test_names_that_are_not_utf8(repo: Path) -> None:
    (repo / os.fsdecode(b"\xff.cpp")).write_text(BLOCK, encoding="utf-8")
    commit(repo, {"a.cpp": BLOCK.replace("KEY", "CPU")})
    done = run(resolve(["HEAD:"]))
    assert [omission.reason for omission in done.left_out] == [WhyLeftOut.TOOL, WhyLeftOut.NAME]
    assert done.registrations == 1
