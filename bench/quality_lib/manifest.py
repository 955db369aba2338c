"""Reads a manifest of recordings with their true texts and the texts of reference programs.

One JSON object a line: file (relative to the manifest), and optionally id, kind, language (Whisper code; null: no
speech), text ("" for no speech), wer_unit, expect, wer, and references {name: {text, temperatures, auto_language}}.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Recording:
    id: str
    path: Path
    kind: str = "audio"
    language: str | None = None
    text: str | None = None  # "" is silence; None is not known
    duration: float = 0.0
    wer_unit: str | None = None
    expect: str | None = None
    references: dict = field(default_factory=dict)
    wer: dict = field(default_factory=dict)  # error rates that the manifest gives, to check these tools

    def reference(self, name):
        """The reference's object, or None when it is absent or the program refused the file."""
        found = self.references.get(name)
        return found if found and "text" in found and "error" not in found else None

    def stable_reference(self, name):
        """The reference if none of its windows fell back to sampling: the others differ from run to run."""
        found = self.reference(name)
        return found if found and all(t == 0 for t in found.get("temperatures") or [0]) else None


def read_manifest(path, kinds=None, limit=None):
    path = Path(path)
    recordings = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            recording = Recording(
                id=row.get("id", row["file"]), path=path.parent / row["file"], kind=row.get("kind", "audio"),
                language=row.get("language"), text=row.get("text"), duration=row.get("duration_s") or 0.0,
                wer_unit=row.get("wer_unit"), expect=row.get("expect"), references=row.get("references") or {},
                wer=row.get("wer") or {})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path}:{number}: not a recording: {error!r}") from error
        if not kinds or recording.kind in kinds:
            recordings.append(recording)
    return recordings[:limit] if limit else recordings
