"""Renders the Helm chart and the base of kustomize, and prints where they differ.

    python docker/try_chart.py        # needs helm and kubectl on the PATH

What the chart has besides is left out: what restarts pods, and the number of the release in the
name of the job. The other way round, kustomize puts a hash into the name of the settings.
"""

from __future__ import annotations

import difflib
import re
import subprocess
import sys
from pathlib import Path

import yaml

_DOCKER = Path(__file__).resolve().parent


def rendered(*command: str) -> dict[tuple[str, str], str]:
    """Return what a program renders, each document by its kind and name."""
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    # The name, where kustomize put a hash, and the number of the release.
    printed = re.sub(r"\b(name: slopsieve)-[a-z0-9]{10}$", r"\1", printed, flags=re.MULTILINE)
    documents = [document for document in yaml.safe_load_all(printed) if document]
    for document in documents:
        document["spec"] = spec = document.get("spec", {})
        spec.get("template", {}).get("metadata", {}).pop("annotations", None)
        if document["kind"] == "Job":
            document["metadata"]["name"] = document["metadata"]["name"].removesuffix("-1")
    return {(d["kind"], d["metadata"]["name"]): yaml.dump(d) for d in documents}


def main() -> None:
    """Lint the chart, compare it with the base; end with 1 where they differ."""
    chart, base = str(_DOCKER / "helm"), str(_DOCKER / "kubernetes" / "base")
    subprocess.run(["helm", "lint", "--strict", "--quiet", chart], check=True)
    ours, theirs = rendered("helm", "template", "x", chart), rendered("kubectl", "kustomize", base)
    differing = [key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)]
    for key in differing:
        both = (text.get(key, "").splitlines() for text in (theirs, ours))
        sys.stdout.write(
            "\n".join((*key, *difflib.unified_diff(*both, "base", "chart", lineterm=""), ""))
        )
    sys.stdout.write(f"{len(ours)} documents, {len(differing)} differ\n")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
