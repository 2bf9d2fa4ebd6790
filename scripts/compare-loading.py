#!/usr/bin/env python3
"""Measures how long hedgerow takes to load files, against DuckDB, NetworKit, igraph and GAP: see docs/bench.md.

    cargo build --release
    scripts/compare-loading.py --scale 20 --threads 2 --gap ../gapbs/bfs --json figures.json

Makes a virtual environment under target/, installs the others from PyPI, except the GAP benchmark suite, which takes
part if its built program `bfs` is given, and runs itself there. Everybody reads the same file, from memory after an
unmeasured run; repetitions take turns. The number of lines that each has read is compared, except with GAP and
NetworKit, which do not tell it, and a difference ends the run with an error.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

from environment import ROOT, enter, timed

WORK = ROOT / "target" / "compare-loading"
PACKAGES = ["duckdb", "networkit", "igraph"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    graph = parser.add_mutually_exclusive_group()
    graph.add_argument("--scale", type=int, default=18, help="scale of a Kronecker graph (default: 18)")
    graph.add_argument("--graph", type=pathlib.Path, help="instead an edge list: two numbers per line, and a space")
    parser.add_argument("--threads", type=int, default=2, help="threads of all that can use several (default: 2)")
    parser.add_argument("--repetitions", type=int, default=3, help="measured runs of each (default: 3)")
    parser.add_argument("--only", default="", help="those whose names contain one of these words, separated by commas")
    parser.add_argument("--gap", type=pathlib.Path, help="the program bfs of the GAP benchmark suite")
    parser.add_argument("--hedgerow", type=pathlib.Path, default=ROOT / "target" / "release" / "hedgerow")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures to this file")
    return parser.parse_args()


class Loading:
    """The files, and a method for each way to load them, which gives seconds and the number of lines read."""

    def __init__(self, args):
        self.args = args
        self.text, self.serialized = WORK / "graph.el", WORK / "graph.sg"
        if args.graph:
            shutil.copyfile(args.graph, self.text)
        else:
            self.hedgerow("generate", "kronecker", "--scale", str(args.scale), "--seed", "1", "--output", self.text)
        self.hedgerow("convert", self.text, self.serialized, "--undirected")

    def hedgerow(self, *words):
        command = [self.args.hedgerow, *words, "--json"]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    def static_graph(self, path):
        """The start of the process is left out, and the kernel, as with GAP."""
        summary = self.hedgerow("run", "bfs", path, "--undirected", "--threads", str(self.args.threads))
        return summary["load_seconds"], summary["rows"] if path == self.text else None

    def store(self, *options):
        store = WORK / "store"
        shutil.rmtree(store, ignore_errors=True)
        options = [*options, "--undirected", "--threads", str(self.args.threads)]
        seconds, summary = timed(lambda: self.hedgerow("import", self.text, "--store", store, *options))
        shutil.rmtree(store)
        return seconds, summary["rows"]

    def duckdb_table(self):
        connection = duckdb.connect(config={"threads": self.args.threads})
        create = f"CREATE TABLE edges AS SELECT * FROM read_csv('{self.text}', delim = ' ', header = false)"
        seconds, _ = timed(lambda: connection.execute(create))
        return seconds, connection.execute("SELECT count(*) FROM edges").fetchone()[0]

    def networkit_graph(self):
        networkit.setNumberOfThreads(self.args.threads)
        read = lambda: networkit.readGraph(str(self.text), networkit.Format.EdgeListSpaceZero, directed=False)
        # It leaves out edges that were there before, and does not say how many.
        return timed(read)[0], None

    def igraph_graph(self):
        seconds, graph = timed(lambda: igraph.Graph.Read_Edgelist(str(self.text), directed=False))
        return seconds, graph.ecount()

    def gap_graph(self, path):
        """What GAP prints: reading and building, without the removal of duplicates."""
        command = [self.args.gap, "-f", path, "-n", "1", *(["-s"] if path == self.text else [])]
        environment = {**os.environ, "OMP_NUM_THREADS": str(self.args.threads)}
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        times = re.findall(r"^(?:Read|Build) Time:\s+([\d.]+)", done.stdout, re.MULTILINE)
        if not times:
            sys.exit(f"{self.args.gap} does not print how long it reads:\n{done.stdout}")
        return sum(map(float, times)), None

    def ways(self):
        """The names of what is loaded, and by whom; the first of each file is ours."""
        text, serialized = "text", "serialized graph"
        yield text, "hedgerow, static graph", lambda: self.static_graph(self.text)
        yield text, "hedgerow, new store", self.store
        yield text, "hedgerow, new store on lsm", lambda: self.store("--engine", "lsm")
        yield text, "DuckDB, table", self.duckdb_table
        yield text, "NetworKit", self.networkit_graph
        yield text, "igraph", self.igraph_graph
        if self.args.gap:
            yield text, "GAP", lambda: self.gap_graph(self.text)
        yield serialized, "hedgerow, static graph", lambda: self.static_graph(self.serialized)
        if self.args.gap:
            yield serialized, "GAP", lambda: self.gap_graph(self.serialized)


def measure(ways, repetitions):
    """Loads with each way once unmeasured, then in turns."""
    lines = {}
    for file, name, load in ways:
        found = load()[1]
        if found is not None and found != lines.setdefault(file, found):
            sys.exit(f"{name} has read {found} lines, not {lines[file]}")
    seconds = {(file, name): [] for file, name, _ in ways}
    for _ in range(repetitions):
        for file, name, load in ways:
            seconds[file, name].append(load()[0])
    first, results = {}, []
    for (file, name), times in seconds.items():
        median = statistics.median(times)
        ratio = median / first.setdefault(file, median)
        results.append({"file": file, "system": name, "median": median, "min": min(times), "max": max(times),
                        "ratio": ratio})
        print(f"{file:18} {name:28} {median:>9.3f} s {ratio:>8.2f}", flush=True)
    return results


def main():
    args = arguments()
    WORK.mkdir(parents=True, exist_ok=True)
    loading = Loading(args)
    versions = {"duckdb": duckdb.__version__, "networkit": networkit.__version__, "igraph": igraph.__version__}
    graph = {"name": str(args.graph or f"kron-{args.scale}"), "bytes": loading.text.stat().st_size}
    print(graph, versions)
    print(f"{'file':18} {'system':28} {'median':>11} {'first=1':>8}")
    words = args.only.lower().split(",")
    ways = [way for way in loading.ways() if any(word in f"{way[0]} {way[1]}".lower() for word in words)]
    results = measure(ways, args.repetitions)
    if args.json:
        report = {"graph": graph, "versions": versions, "threads": args.threads, "repetitions": args.repetitions,
                  "results": results}
        args.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    enter(WORK / "venv", PACKAGES)
    import duckdb
    import igraph
    import networkit

    main()
