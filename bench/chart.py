"""The picture of a comparison: one row a metric, one dot a peer with its spread, on a logarithmic axis."""
import math
import statistics

COLORS = {"millwright": "#1f5fa8", "floor": "#3b8c3b", "torch": "#d1495b", "fp16": "#8d6fc0", "fp16 ieee": "#b9a5dd"}
LEFT, RIGHT, ROW, TOP, WIDTH = 190, 40, 34, 70, 900
NOT_DRAWN = {"loss", "peak_mb", "cpu_ms", "compile_ms"}


def relative(metric, peers, more_is_better):
    """{peer: [time of each round as a multiple of Millwright's median]}"""
    base = statistics.median(peers["millwright"])
    if metric in more_is_better:
        return {peer: [base / value for value in values] for peer, values in peers.items()}
    return {peer: [value / base for value in values] for peer, values in peers.items()}


def text(x, y, string, anchor="start", size=12, color="#222"):
    escaped = string.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{color}">{escaped}</text>'


def axis(low, high, place, bottom):
    """Lines at 1, 2 and 5 times the powers of ten."""
    parts = []
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        for digit in (1, 2, 5):
            value = digit * 10.0 ** power
            if low <= value <= high:
                color, x = "#888" if value == 1 else "#ddd", place(value)
                parts.append(f'<line x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{bottom}" stroke="{color}"/>')
                parts.append(text(x, bottom + 16, f"{value:g}", "middle", 11, "#555"))
    return parts


def draw(results, names, more_is_better, title):
    rows = [(key, peers) for key, peers in results.items() if key[2] not in NOT_DRAWN and "millwright" in peers
            and len(peers) > 1]
    scaled = [relative(key[2], peers, more_is_better) for key, peers in rows]
    every = [value for peers in scaled for values in peers.values() for value in values] or [1.0]
    low, high = min(every + [0.5]) / 1.2, max(every + [2.0]) * 1.2
    bottom, span = TOP + ROW * len(rows), WIDTH - LEFT - RIGHT

    def place(value):
        return LEFT + span * math.log(value / low) / math.log(high / low)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{bottom + 44}" font-family="sans-serif">',
             f'<rect width="{WIDTH}" height="{bottom + 44}" fill="white"/>', text(12, 20, title[:140], size=10, color="#555")]
    for i, name in enumerate(names):
        parts.append(f'<circle cx="{LEFT + 130 * i}" cy="40" r="5" fill="{COLORS[name]}"/>')
        parts.append(text(LEFT + 130 * i + 10, 44, name))
    parts += axis(low, high, place, bottom)
    parts.append(text(LEFT + span / 2, bottom + 34, "time as a multiple of Millwright's (left is faster)", "middle"))
    for i, ((workload, threads, metric), _) in enumerate(rows):
        y = TOP + ROW * i + ROW / 2
        parts.append(text(12, y + 4, f"{workload} {metric}, {threads} thread{'s' if threads > 1 else ''}"))
        for name, values in scaled[i].items():
            left, middle, right = place(min(values)), place(statistics.median(values)), place(max(values))
            color = COLORS[name]
            parts.append(f'<line x1="{left:.1f}" y1="{y}" x2="{right:.1f}" y2="{y}" stroke="{color}" stroke-width="2"/>')
            parts.append(f'<circle cx="{middle:.1f}" cy="{y}" r="5" fill="{color}" fill-opacity="0.85"/>')
    return "\n".join(parts + ["</svg>"]) + "\n"
