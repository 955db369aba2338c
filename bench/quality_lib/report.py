"""What bench/quality knows of one recording, the totals, and how both are printed."""

from dataclasses import dataclass, field

from .errors import Errors
from .measure import character_errors, compare, items_of, total, unit_of


@dataclass
class Result:
    recording: object
    run: object
    unit: str
    truth: Errors | None = None             # sotto against the true text
    reference_truth: Errors | None = None   # the reference program against the true text
    reference: Errors | None = None         # sotto against the reference program
    characters: tuple | None = None         # (errors, length) against the true text
    inserted: int | None = None             # words where there is no speech
    reference_inserted: int | None = None
    stable: bool = False                    # the reference never fell back to sampling
    detected: str | None = None
    reference_detected: str | None = None
    word_times: dict | None = None
    notes: list = field(default_factory=list)


def judge(recording, run, reference_name):
    """Compares one run with all that is known of the recording."""
    unit = unit_of(recording.language, recording.wer_unit)
    result = Result(recording, run, unit)
    reference = recording.reference(reference_name)
    result.stable = recording.stable_reference(reference_name) is not None
    if run.exit_code != 0:
        result.notes.append(f"exit code {run.exit_code}: {run.message.splitlines()[-1] if run.message else ''}")
    elif run.repeats_itself:
        result.notes.append("repeats itself")
    if run.temperatures and run.temperatures[-1] > 0:
        result.notes.append(f"fell back to temperature {run.temperatures[-1]:g}")
    if recording.text == "" or recording.language is None:
        result.inserted = len(items_of(run.text, recording.language, unit))
        if reference:
            result.reference_inserted = len(items_of(reference["text"], recording.language, unit))
        return result
    if recording.text:
        result.truth = compare(recording.text, run.text, recording.language, unit)
        result.characters = character_errors(recording.text, run.text, recording.language)
    if reference:
        result.reference = compare(reference["text"], run.text, recording.language, unit)
        if recording.text:
            result.reference_truth = compare(recording.text, reference["text"], recording.language, unit)
        if result.stable and result.reference.total:
            result.notes.append("differs from the reference")
    return result


def _rate(errors):
    return "-" if errors is None or errors.rate is None else f"{100 * errors.rate:.1f}"


def _percent(part, whole):
    return "-" if not whole else f"{100 * part / whole:.1f}"


def print_results(results, reference_name):
    print(f"{'recording':18} {'s':>6} {'unit':5} {'error %':>8} {'ref %':>7} {'vs ref':>7} {'char %':>7} {'RTF':>6}  notes")
    for r in results:
        characters = "-" if r.characters is None else _percent(*r.characters)
        speed = f"{r.run.wall_s / r.recording.duration:.3f}" if r.recording.duration else "-"
        notes = list(r.notes)
        if r.inserted is not None:
            theirs = "" if r.reference_inserted is None else f" ({reference_name}: {r.reference_inserted})"
            notes.append(f"{r.inserted} inserted{theirs}")
        if r.reference is not None and not r.stable:
            notes.append("reference fell back")
        if r.detected is not None and r.reference_detected and r.detected != r.reference_detected:
            notes.append(f"language {r.detected}, reference {r.reference_detected}")
        if r.word_times:
            notes.append(f"word starts off by {r.word_times['start']['mean']} s in the mean")
        print(f"{r.recording.id[:18]:18} {r.recording.duration:6.1f} {r.unit[:5]:5} {_rate(r.truth):>8} "
              f"{_rate(r.reference_truth):>7} {_rate(r.reference):>7} {characters:>7} {speed:>6}  {'; '.join(notes)}")


def totals(results):
    """Sums over all recordings, and over those whose reference is stable. Words and characters are not mixed."""
    out = {}
    for unit in ("words", "characters"):
        of_unit = [r for r in results if r.unit == unit]
        for name, chosen in ((unit, of_unit), (unit + ", stable references", [r for r in of_unit if r.stable])):
            both = [r for r in chosen if r.truth is not None and r.reference_truth is not None]
            against = [r for r in chosen if r.reference is not None]
            characters = [r.characters for r in chosen if r.characters is not None]
            out[name] = {
                "truth": total([r.truth for r in both]),
                "reference_truth": total([r.reference_truth for r in both]),
                "reference": total([r.reference for r in against]),
                "equal": sum(r.reference.total == 0 for r in against),
                "compared": len(against),
                "characters": (sum(e for e, _ in characters), sum(n for _, n in characters)),
            }
    return out


def print_totals(results, reference_name):
    print()
    for name, row in totals(results).items():
        if not row["compared"] and not row["truth"].length:
            continue
        print(f"{name}: error rate {_rate(row['truth'])} % ({reference_name}: {_rate(row['reference_truth'])} %, "
              f"{row['truth'].length} {name.split(',')[0]}), characters {_percent(*row['characters'])} %; against "
              f"{reference_name} {_rate(row['reference'])} %, {row['equal']} of {row['compared']} texts equal")
    silent = [r for r in results if r.inserted is not None]
    if silent:
        theirs = sum(r.reference_inserted or 0 for r in silent)
        print(f"no speech: {sum(r.inserted for r in silent)} words inserted in {len(silent)} recordings "
              f"({reference_name}: {theirs})")
    detected = [r for r in results if r.detected is not None and r.reference_detected]
    if detected:
        agree = sum(r.detected == r.reference_detected for r in detected)
        print(f"language: {agree} of {len(detected)} detected as {reference_name} does")
    timed = [r.word_times for r in results if r.word_times]
    if timed:
        words = sum(t["matched"] for t in timed)
        for side in ("start", "end"):
            mean = sum(t[side]["mean"] * t["matched"] for t in timed if t["matched"]) / max(words, 1)
            print(f"word {side}s: {mean:.3f} s off in the mean, over {words} words")
    duration = sum(r.recording.duration for r in results)
    wall, cpu = sum(r.run.wall_s for r in results), sum(r.run.cpu_s for r in results)
    failed = sum(r.run.exit_code != 0 for r in results)
    print(f"time: {duration:.0f} s of audio in {wall:.1f} s ({cpu:.1f} core seconds, loading included); {failed} failed")


def _errors_json(errors):
    return None if errors is None else vars(errors) | {"rate": errors.rate}


def as_json(results, reference_name, options):
    rows = []
    for r in results:
        rows.append({
            "id": r.recording.id, "unit": r.unit, "duration_s": r.recording.duration, "text": r.run.text,
            "exit_code": r.run.exit_code, "message": r.run.message, "wall_s": round(r.run.wall_s, 3),
            "cpu_s": round(r.run.cpu_s, 3), "truth": _errors_json(r.truth), "reference": _errors_json(r.reference),
            "reference_truth": _errors_json(r.reference_truth), "stable_reference": r.stable,
            "characters": r.characters, "inserted": r.inserted, "reference_inserted": r.reference_inserted,
            "detected": r.detected, "reference_detected": r.reference_detected, "word_times": r.word_times,
            "notes": r.notes,
            "segments": [[s["start"], s["end"], s["text"]] for s in r.run.document.get("segments", [])],
        })
    sums = {name: {key: _errors_json(value) if isinstance(value, Errors) else value for key, value in row.items()}
            for name, row in totals(results).items()}
    return {"options": options, "reference": reference_name, "totals": sums, "recordings": rows}
