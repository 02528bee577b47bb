"""An agent of rig, with its mock model. Its crates take minutes to build."""

import shutil

from rust_closure import installed, jobs
from user import ROOT, shown


def walk(given):
    user = installed("rig", given)
    # As the table of the command line says: `--agent` names what the agent is made of.
    user.types(shown("README.md", "cargo evalset new") + " --agent rig", says=["rig-core", "cargo test --test weather"])
    shutil.copy(ROOT / "examples/rig/Cargo.lock", user.folder)
    passes = ["test result: ok. 2 passed"]
    user.types(shown("README.md", "cargo test"), result="test weather_cases::rainy_in_Oslo ... ok", says=passes)
    jobs(user)
    user.ends()
