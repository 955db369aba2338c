"""Figures of a comparison: medians, ratios of interleaved runs, and the Markdown table."""

import statistics


def ratio_of_rounds(ours, theirs):
    """Median over the rounds of ours / theirs: runs of one round shared the state of the machine."""
    return statistics.median(a / b for a, b in zip(ours, theirs))


def median_or_none(values):
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def summarise(series, error_rate):
    """One engine in one case as a dictionary. `error_rate`: of its last text, in percent, or None."""
    times = [sample.ms for sample in series.samples]
    texts = {sample.text for sample in series.samples}
    return {"engine": series.engine, "case": series.case, "rounds": len(times), "median_ms": statistics.median(times),
            "min_ms": min(times), "times_ms": times,
            "cpu_s": median_or_none(sample.cpu_s for sample in series.samples),
            "load_ms": series.load_ms, "peak_mb": series.peak_mb, "error_rate": error_rate,
            "text": series.samples[-1].text, "texts": len(texts)}


def add_ratios(rows, ours):
    """Gives every row of a case "ratio": the time of `ours` (an engine's name) over its own."""
    reference = {row["case"]: row["times_ms"] for row in rows if row["engine"] == ours}
    for row in rows:
        if row["case"] in reference and row["engine"] != ours:
            row["ratio"] = ratio_of_rounds(reference[row["case"]], row["times_ms"])


def milliseconds(value):
    """Three digits that matter: 6.12 ms, 270 ms, 12.3 s."""
    if value is None:
        return ""
    if value >= 10000:
        return f"{value / 1000:.1f} s"
    if value >= 1000:
        return f"{value / 1000:.2f} s"
    return f"{value:.0f} ms" if value >= 100 else f"{value:.1f} ms" if value >= 10 else f"{value:.2f} ms"


def number(value, form):
    return "" if value is None else format(value, form)


COLUMNS = ("", "median", "fastest", "sotto / this", "CPU-seconds", "load", "peak memory", "word errors")


def markdown_case(rows):
    """The table of one case."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---|" + "---:|" * (len(COLUMNS) - 1)]
    for row in rows:
        memory = number(row["peak_mb"], ".0f")
        cells = [row["engine"], milliseconds(row["median_ms"]), milliseconds(row["min_ms"]),
                 number(row.get("ratio"), ".2f"), number(row["cpu_s"], ".2f"), milliseconds(row["load_ms"]),
                 memory and memory + " MB",
                 "" if row["error_rate"] is None else f"{row['error_rate']:.1f} %"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def markdown(report):
    """The whole report. `report`: machine, date, command, versions, threads, rounds, results of summarise()."""
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    out = ["# sotto beside other programs", "",
           f"{report['date']}, {report['machine']}, {report['threads']} threads each; {versions}.",
           f"Made by `{report['command']}`; load average {report['load_average_before']:.1f} before, "
           f"{report['load_average_after']:.1f} after.", "",
           "Programs ran in turns, a round being one run of each. \"sotto / this\" is the median over the rounds of "
           "sotto's time divided by the other's: below 1 sotto is faster."]
    for model in dict.fromkeys(row["model"] for row in report["results"]):
        for case in dict.fromkeys(row["case"] for row in report["results"] if row["model"] == model):
            rows = [row for row in report["results"] if row["model"] == model and row["case"] == case]
            rounds = "1 round" if rows[0]["rounds"] == 1 else f"{rows[0]['rounds']} rounds"
            out += ["", f"## {model}: {report['cases'][case]} ({rounds})", markdown_case(rows)]
    return "\n".join(out) + "\n"
