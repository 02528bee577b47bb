#!/usr/bin/env python3
"""Builds and tests the packages as a registry would hold them.

    tests/packages.py

Packs every crate that can be published, unpacks the packages into a workspace of their own below the target folder, and
runs the tests of each one there. Nothing outside of a package is in reach of its tests then, and the crates use each
other's packages, not what a registry has under their names.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

WORKSPACE = pathlib.Path(__file__).resolve().parent.parent
# Every package holds these, as files.
EVERYWHERE = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"]
# What is tested of a package, besides its default features.
FEATURES = {"eval-core": [["--no-default-features"], ["--all-features"]]}


def cargo(*args, folder=WORKSPACE, **options):
    print("+ cargo", *args, flush=True)
    return subprocess.run(["cargo", *args], cwd=folder, check=True, **options)


def metadata():
    asked = cargo("metadata", "--format-version", "1", "--no-deps", stdout=subprocess.PIPE, text=True)
    return json.loads(asked.stdout)


def pack(crates, target):
    """The packages of the crates."""
    names = [argument for crate in crates for argument in ("-p", crate["name"])]
    cargo("package", *names, "--no-verify", "--allow-dirty", "--locked", "--target-dir", target)
    return [target / "package" / f"{crate['name']}-{crate['version']}.crate" for crate in crates]


def unpack(packages, workspace):
    """A workspace of the packages; their folders."""
    shutil.rmtree(workspace, ignore_errors=True)
    workspace.mkdir(parents=True)
    for package in packages:
        with tarfile.open(package) as archive:
            archive.extractall(workspace, filter="data")
    # Files in packages have a time of long ago, so cargo would take what it built of other ones for fresh.
    for file in workspace.rglob("*"):
        os.utime(file)
    folders = [package.stem for package in packages]
    for folder in folders:
        missing = [name for name in EVERYWHERE if not (workspace / folder / name).is_file()]
        if missing:
            sys.exit(f"the package {folder} lacks {', '.join(missing)}")
        # Written for the package on its own; the workspace has one for all.
        (workspace / folder / "Cargo.lock").unlink(missing_ok=True)
    # The versions that all other tests use.
    shutil.copy(WORKSPACE / "Cargo.lock", workspace)
    return folders


def manifest(crates, folders):
    members = ", ".join(f'"{folder}"' for folder in folders)
    patches = (f'{crate["name"]} = {{ path = "{folder}" }}' for crate, folder in zip(crates, folders))
    return "\n".join([f'[workspace]\nresolver = "3"\nmembers = [{members}]\n', "[patch.crates-io]", *patches, ""])


def main():
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    found = metadata()
    crates = [crate for crate in found["packages"] if crate["publish"] is None]
    target = pathlib.Path(found["target_directory"]) / "packages"
    workspace = target / "workspace"
    folders = unpack(pack(crates, target), workspace)
    (workspace / "Cargo.toml").write_text(manifest(crates, folders), encoding="utf-8")
    # Tests in a package ask nobody outside of it.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("EVALSET_")}
    environment["CARGO_TARGET_DIR"] = str(target / "built")
    for crate in crates:
        for features in [[], *FEATURES.get(crate["name"], [])]:
            cargo("test", "--quiet", "-p", crate["name"], *features, folder=workspace, env=environment)
    print(f"{len(crates)} packages passed their tests")


main()
