#!/usr/bin/env python3
"""Measures kernels of hedgerow against NetworKit and python-graphblas (SuiteSparse:GraphBLAS): see docs/bench.md.

    cargo build --release
    scripts/compare-kernels.py --scale 17 --threads 1,2 --json figures.json

Makes a virtual environment under target/, installs both from PyPI, and runs itself there. Everybody reads the same
undirected graph, without self loops and vertices that have no edges. Only kernels are timed: loading is left out on
all sides, and so are the start of a process and compiling ahead (each is run once unmeasured). Repetitions take turns.
What is computed is compared wherever the definitions are the same, and a difference ends the run with an error.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

from environment import ROOT, enter, timed

WORK = ROOT / "target" / "compare-kernels"
PACKAGES = ["networkit", "python-graphblas[default]"]
BETWEENNESS_SOURCES = 8
CDLP_ITERATIONS = 10


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    graph = parser.add_mutually_exclusive_group()
    graph.add_argument("--scale", type=int, default=16, help="scale of a Kronecker graph (default: 16)")
    graph.add_argument("--graph", type=pathlib.Path, help="a graph file, taken as undirected, instead of that")
    parser.add_argument("--threads", default="1", help="thread counts, separated by commas (default: 1)")
    parser.add_argument("--repetitions", type=int, default=3, help="measured runs of each (default: 3)")
    parser.add_argument("--engine", choices=["csr", "rapid"], default="csr", help="our engine (default: csr)")
    parser.add_argument("--hedgerow", type=pathlib.Path, default=ROOT / "target" / "release" / "hedgerow")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures to this file")
    return parser.parse_args()


class Subject:
    """One way to run one kernel, which gives seconds and an answer; and by which other definition, if it has one."""

    def __init__(self, kernel, system, run, definition=None):
        self.kernel, self.system, self.run, self.definition = kernel, system, run, definition


class Hedgerow:
    """The command, which says itself how long its kernel took."""

    def __init__(self, command, graph, engine):
        self.command, self.graph, self.engine = command, graph, engine
        self.threads = 1

    def version(self):
        return subprocess.run([self.command, "--version"], check=True, capture_output=True, text=True).stdout.strip()

    def run(self, kernel, *options, field=None):
        """How long the kernel took, and the field of its summary or the result of every vertex."""
        output = WORK / "result.txt"
        command = [self.command, "run", kernel, "--graph", self.graph, "--undirected", "--json"]
        command += ["--engine", self.engine, "--threads", str(self.threads), *options]
        command += [] if field else ["--output", output]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        summary = json.loads(done.stdout)
        if field:
            return summary["kernel_seconds"], numpy.array([summary[field]])
        return summary["kernel_seconds"], numpy.loadtxt(output)[:, 1]

    def subjects(self, sources):
        keys = ",".join(map(str, sources))
        yield Subject("lcc", "hedgerow", lambda: self.run("lcc"))
        yield Subject("cdlp", "hedgerow", lambda: self.run("cdlp", "--iterations", str(CDLP_ITERATIONS)))
        yield Subject("kcore", "hedgerow", lambda: self.run("kcore"))
        yield Subject("betweenness", "hedgerow", lambda: self.run("betweenness", "--source", keys))
        yield Subject("triangles", "hedgerow", lambda: self.run("triangles", field="triangles"))


class NetworKit:
    def __init__(self, rows, columns, vertices):
        lower = rows > columns
        self.graph = networkit.GraphFromCoo((rows[lower], columns[lower]), n=vertices)
        self.graph.sortEdges()
        self.graph.indexEdges()

    def set_threads(self, threads):
        networkit.setNumberOfThreads(threads)

    def run(self, algorithm, answer):
        seconds, _ = timed(algorithm.run)
        return seconds, answer(algorithm)

    def subjects(self):
        graph, scores = self.graph, lambda algorithm: numpy.array(algorithm.scores())
        centrality = networkit.centrality

        def add(kernel, name, make, answer=scores, definition=None):
            return Subject(kernel, f"networkit {name}", lambda: self.run(make(), answer), definition)

        nothing = lambda algorithm: None
        triangles = lambda algorithm: numpy.array([sum(algorithm.scores()) / 3])
        yield add("lcc", "plain", lambda: centrality.LocalClusteringCoefficient(graph))
        yield add("lcc", "turbo", lambda: centrality.LocalClusteringCoefficient(graph, turbo=True))
        plp = lambda: networkit.community.PLP(graph, maxIterations=CDLP_ITERATIONS)
        yield add("cdlp", "PLP", plp, nothing, "another algorithm: changes are seen at once")
        yield add("kcore", "parallel", lambda: centrality.CoreDecomposition(graph))
        yield add("kcore", "sequential", lambda: centrality.CoreDecomposition(graph, enforceBucketQueueAlgorithm=True))
        estimate = lambda: centrality.EstimateBetweenness(graph, BETWEENNESS_SOURCES, parallel=True)
        yield add("betweenness", "estimate", estimate, nothing, "as many sources, of its own choice")
        yield add("triangles", "by edge", lambda: networkit.sparsification.TriangleEdgeScore(graph), triangles)


class GraphBlas:
    """The same in linear algebra, as LAGraph has it: "LAGraph: Linear Algebra, Network Analysis Libraries, and the
    Study of Graph Algorithms" (GrAPL 2021)."""

    def __init__(self, rows, columns, vertices):
        ones = numpy.ones(len(rows), dtype=bool)
        self.vertices = vertices
        self.matrix = graphblas.Matrix.from_coo(rows, columns, ones, nrows=vertices, ncols=vertices)
        self.degrees = self.matrix.reduce_rowwise(graphblas.monoid.plus["INT64"]).new()

    def set_threads(self, threads):
        graphblas.ss.config["nthreads"] = threads

    def by_degree(self):
        """The matrix with vertices of small degrees first."""
        order = numpy.argsort(self.degrees.to_dense(fill_value=0), kind="stable")
        return self.matrix[order, order].new(), order

    def triangles(self):
        """Every triangle once, at its lowest edge: the mask is the lower half, of which rows are joined with rows."""
        matrix, _ = self.by_degree()
        lower = graphblas.select.tril(matrix, -1).new()
        upper = graphblas.select.triu(matrix, 1).new()
        counts = graphblas.Matrix("INT64", self.vertices, self.vertices)
        counts(lower.S) << graphblas.semiring.plus_pair["INT64"](lower @ upper.T)
        return numpy.array([counts.reduce_scalar(graphblas.monoid.plus).value])

    def clustering(self):
        """Edges among the neighbors of a vertex over those that there could be."""
        matrix, order = self.by_degree()
        upper = graphblas.select.triu(matrix, 1).new()
        counts = graphblas.Matrix("INT64", self.vertices, self.vertices)
        counts(matrix.S) << graphblas.semiring.plus_pair["INT64"](matrix @ upper.T)
        closed = numpy.empty(self.vertices)
        closed[order] = counts.reduce_rowwise(graphblas.monoid.plus).new().to_dense(fill_value=0)
        degrees = self.degrees.to_dense(fill_value=0)
        return 2.0 * closed / numpy.maximum(degrees * (degrees - 1), 1)

    def communities(self):
        """Votes are a matrix of vertices and labels: its rows are searched for the first of the largest numbers."""
        labels = numpy.arange(self.vertices)
        for _ in range(CDLP_ITERATIONS):
            ballots = graphblas.Matrix.from_coo(
                numpy.arange(self.vertices), labels, True, nrows=self.vertices, ncols=self.vertices
            )
            votes = graphblas.semiring.plus_pair["INT64"](self.matrix @ ballots).new()
            most = votes.reduce_rowwise(graphblas.monoid.max).new().diag()
            # At the place of a vote how many are missing to the most.
            missing = votes.ewise_mult(graphblas.semiring.any_first(most @ votes).new(), graphblas.binary.minus).new()
            winners = graphblas.select.valueeq(missing, 0).new()
            elected = winners.apply(graphblas.indexunary.colindex).new().reduce_rowwise(graphblas.monoid.min).new()
            voters, found = elected.to_coo()
            labels[voters] = found
        return labels.astype(float)

    def betweenness(self, sources):
        """Brandes' algorithm from all sources at once, level by level: a row for each source."""
        count = len(sources)
        rows = numpy.arange(count)
        shape = {"nrows": count, "ncols": self.vertices}
        paths = graphblas.Matrix.from_coo(rows, sources, 1.0, dtype="FP64", **shape)
        frontier = graphblas.Matrix("FP64", **shape)
        frontier(~paths.S) << graphblas.semiring.plus_first["FP64"](paths @ self.matrix)
        levels = []
        while frontier.nvals:
            levels.append(frontier.dup(dtype=bool))
            paths(graphblas.binary.plus) << frontier
            frontier(~paths.S, replace=True) << graphblas.semiring.plus_first["FP64"](frontier @ self.matrix)
        returned = graphblas.Matrix("FP64", **shape)
        returned << 1.0
        for later, earlier in zip(reversed(levels[1:]), reversed(levels[:-1])):
            share = graphblas.Matrix("FP64", **shape)
            share(later.S) << returned.ewise_mult(paths, graphblas.binary.truediv)
            share(earlier.S, replace=True) << graphblas.semiring.plus_first["FP64"](share @ self.matrix)
            returned(graphblas.binary.plus) << share.ewise_mult(paths, graphblas.binary.times)
        scores = returned.reduce_columnwise(graphblas.monoid.plus).new().to_dense() - count
        return scores

    def subjects(self, sources):
        yield Subject("lcc", "graphblas", lambda: timed(self.clustering))
        yield Subject("cdlp", "graphblas", lambda: timed(self.communities))
        yield Subject("betweenness", "graphblas", lambda: timed(lambda: self.betweenness(sources)))
        yield Subject("triangles", "graphblas", lambda: timed(self.triangles))


def adjacency(path):
    """Sources and destinations of a serialized graph, and how many vertices it has."""
    with open(path, "rb") as file:
        file.read(1)
        neighbors, vertices = numpy.fromfile(file, "<i8", 2)
        offsets = numpy.fromfile(file, "<i8", vertices + 1)
        columns = numpy.fromfile(file, "<i4", neighbors).astype(numpy.int64)
    return numpy.repeat(numpy.arange(vertices), numpy.diff(offsets)), columns, int(vertices)


def simple(rows, columns):
    """The same edges without self loops, of vertices that have some, numbered in their order."""
    kept = rows != columns
    rows, columns = rows[kept], columns[kept]
    used, rows = numpy.unique(rows, return_inverse=True)
    return rows, numpy.searchsorted(used, columns), len(used)


def write(path, rows, columns, vertices):
    """A serialized undirected graph; the entries are in the order of rows and columns."""
    offsets = numpy.searchsorted(rows, numpy.arange(vertices + 1))
    with open(path, "wb") as file:
        file.write(b"\0")
        numpy.array([len(rows), vertices], "<i8").tofile(file)
        offsets.astype("<i8").tofile(file)
        columns.astype("<i4").tofile(file)


def load(args):
    """The graph that everybody reads, and the file that hedgerow reads."""
    raw, path = WORK / "raw.sg", WORK / "graph.sg"
    if args.graph:
        command = ["convert", args.graph, raw, "--undirected"]
    else:
        command = ["generate", "kronecker", "--scale", str(args.scale), "--undirected", "--output", raw]
    subprocess.run([args.hedgerow, *command], check=True, stdout=subprocess.DEVNULL)
    rows, columns, vertices = simple(*adjacency(raw)[:2])
    write(path, rows, columns, vertices)
    return path, rows, columns, vertices


def check(subject, answer, expected, threads):
    """Ends the run if two systems that compute the same differ."""
    if subject.definition or numpy.allclose(answer, expected, rtol=1e-9, atol=1e-9):
        return
    worst = numpy.argmax(numpy.abs(answer - expected))
    sys.exit(f"{subject.kernel} by {subject.system} on {threads} threads: {answer[worst]} instead of {expected[worst]}"
             f" at {worst}")


def measure(subjects, repetitions, threads):
    """Runs all once unmeasured, and then in turns. The first of each kernel is ours: the others are set against it."""
    results = []
    for kernel in dict.fromkeys(subject.kernel for subject in subjects):
        rivals = [subject for subject in subjects if subject.kernel == kernel]
        expected = rivals[0].run()[1]
        for rival in rivals[1:]:
            check(rival, rival.run()[1], expected, threads)
        seconds = {rival.system: [] for rival in rivals}
        for _ in range(repetitions):
            for rival in rivals:
                seconds[rival.system].append(rival.run()[0])
        ours = statistics.median(seconds[rivals[0].system])
        for rival in rivals:
            median = statistics.median(seconds[rival.system])
            results.append({
                "kernel": kernel, "system": rival.system, "threads": threads, "median": median,
                "min": min(seconds[rival.system]), "max": max(seconds[rival.system]), "ratio": median / ours,
                "compared": rival.definition is None, "note": rival.definition,
            })
            note = rival.definition or ("" if rival is rivals[0] else "the same answer")
            row = f"{kernel:12} {threads:>7}  {rival.system:22} {median:>10.4f} s {median / ours:>8.2f}   {note}"
            print(row.rstrip(), flush=True)
    return results


def main():
    args = arguments()
    WORK.mkdir(parents=True, exist_ok=True)
    path, rows, columns, vertices = load(args)
    sources = numpy.random.default_rng(1).choice(vertices, min(BETWEENNESS_SOURCES, vertices), replace=False)
    hedgerow, kit = Hedgerow(args.hedgerow, path, args.engine), NetworKit(rows, columns, vertices)
    blas = GraphBlas(rows, columns, vertices)
    versions = {"hedgerow": hedgerow.version(), "networkit": networkit.__version__}
    versions |= {"python-graphblas": graphblas.__version__, "suitesparse": graphblas.ss.about["library_version"]}
    graph = {"name": str(args.graph or f"kron-{args.scale}"), "vertices": vertices, "edges": len(rows) // 2}
    print(graph, versions)
    print(f"{'kernel':12} threads  {'system':22} {'median':>12} {'ours=1':>8}")
    results = []
    for threads in map(int, args.threads.split(",")):
        hedgerow.threads = threads
        kit.set_threads(threads)
        blas.set_threads(threads)
        subjects = [*hedgerow.subjects(sources), *kit.subjects(), *blas.subjects(sources)]
        results += measure(subjects, args.repetitions, threads)
    if args.json:
        report = {"graph": graph, "versions": {name: str(version) for name, version in versions.items()},
                  "engine": args.engine, "repetitions": args.repetitions, "results": results}
        args.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    enter(WORK / "venv", PACKAGES)
    import graphblas
    import networkit
    import numpy

    main()
