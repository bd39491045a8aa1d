"""Handles, callbacks, threads and the end of the interpreter."""
import gc
import threading
import time
import weakref

from frame import check, dataset, examples, made_by_function, mw, network, raises
from mirror import python


def closed(call):
    error = raises(mw.Error, call, "closed")
    check(error.status == mw.Status.MW_ERROR_STATE, f"{error.status}")


def test_what_is_closed_raises(folder):
    graph, trainer = network()
    x = graph.find("x")
    program = mw.Program(make_program())
    data, loader = dataset(), mw.Loader(dataset(), 8)
    batch = loader.next()
    path = str(folder / "w.npz")
    mw.write_tensors(path, {"w": [1.0, 2.0]})
    tensors = mw.Tensors(path)
    make_program().write(folder / "model")
    model = mw.Model(folder / "model" / "model.mil")
    predictor = model.predictor()
    for handle in (graph, trainer, program, data, loader, tensors, model, predictor):
        check(not handle.closed, "open")
        handle.close()
        handle.close()
        check(handle.closed, "closed")
    for call in (lambda: x.shape, lambda: x + 1.0, lambda: x.relu(), lambda: graph.input("z", (1,)), graph.check,
                 graph.mil, lambda: str(graph), lambda: mw.grad(x, [x]), lambda: mw.nn.dense(x, 2, "d"),
                 lambda: mw.Program(graph),
                 lambda: trainer.step(x=[[0.0] * 4] * 8, y=[0] * 8), lambda: trainer.read("fc1.weight"),
                 lambda: trainer.evaluate(dataset()), lambda: trainer.fit(dataset(), 1), lambda: trainer.learning_rate,
                 lambda: trainer.steps, lambda: trainer.where, lambda: trainer.save("x"), program.run,
                 lambda: program.ports, lambda: len(data), lambda: data.columns, lambda: mw.Loader(data, 8),
                 lambda: data.split([1, -1]),
                 loader.next, lambda: len(loader), lambda: loader.position, lambda: tensors["w"], lambda: list(tensors),
                 model.predictor, lambda: model.batch, lambda: predictor.predict(x=[[1.0, 2.0]])):
        closed(call)
    raises(mw.Error, lambda: batch["x"], "gone")
    check("closed" in repr(x), repr(x))


def make_program():
    graph = mw.Graph()
    (graph.input("x", (1, 2)) * 2.0).output("y")
    return graph


def test_what_is_made_of_another_outlives_it(folder):
    graph, trainer = network()
    logits = graph.find("x") * 2.0
    del graph
    gc.collect()
    check(logits.shape == (8, 4), "a tensor keeps its graph")
    data = dataset()
    parts = data.split([32, -1])
    loader = mw.Loader(parts[0].prefetch(2), 8)
    data.close(), parts[0].close()
    del data
    gc.collect()
    check(sum(batch.examples for batch in loader) == 32, "a loader keeps its data set")
    check(len(parts[1]) == 32, "a part keeps the whole")
    make_program().write(folder)
    predictor = mw.Model(folder / "model.mil").predictor()
    gc.collect()
    check(predictor.predict(x=[[1.0, 2.0]] * 5)["y"].tolist() == [[2.0, 4.0]] * 5, "a predictor keeps its model")
    check(trainer.step(next(iter(mw.Loader(dataset(), 8)))) > 0.0, "a trainer needs no graph")


def test_handles_are_freed_once_and_soon():
    """Without the collector: nothing of a handle is in a cycle."""
    gc.disable()
    try:
        graph, trainer = network()
        loader = mw.Loader(made_by_function(), 8)
        list(loader)
        ends = [weakref.ref(handle) for handle in (graph, trainer, loader, loader.dataset)]
        finalizers = [handle._finalizer for handle in (graph, trainer, loader, loader.dataset)]
        del graph, trainer, loader
        check(all(end() is None for end in ends), "something holds them")
        check(not any(finalizer.alive for finalizer in finalizers), "they were not freed")
    finally:
        gc.enable()


def test_a_batch_is_good_until_the_next():
    graph, trainer = network()
    loader = mw.Loader(dataset(), 8, shuffle=False)
    first = loader.next()
    kept = first["x"]
    check(trainer.step(first) > 0.0 and first.ids == list(range(8)) and first.examples == 8, "the batch")
    rows, labels = examples()
    check(first["y"].tolist() == labels[:8], "labels")
    check(max(abs(a - b) for a, b in zip(sum(kept.tolist(), []), sum(rows[:8], []))) < 1e-6, "rows")
    second = loader.next()
    error = raises(mw.Error, lambda: trainer.step(first), "gone")
    check(error.status == mw.Status.MW_ERROR_STATE and kept.tolist()[0][0] == kept[0][0], "a copy stays")
    loader.position = 0, 3
    raises(mw.Error, lambda: second["x"], "gone")
    check(loader.next().ids == list(range(24, 32)) and loader.position == (0, 4), "the position")


# ---- callbacks ----


class Marked(Exception):
    """What callbacks of these tests raise."""


def test_exceptions_of_callbacks_are_raised_again():
    error = Marked("boom")
    _, trainer = network()
    for wrap in (lambda d: d, lambda d: d.prefetch(2), lambda d: d.split([-1])[0], lambda d: mw.concatenate([d, d])):
        data = wrap(made_by_function(64, 20, error))
        check(raises(Marked, lambda d=data: list(mw.Loader(d, 8))) is error, "a loader")
        check(raises(Marked, lambda d=data: trainer.evaluate(d)) is error, "an evaluation")
        check(raises(Marked, lambda d=data: trainer.fit(d, 1)) is error, "a fit")
    raises(Marked, lambda: list(mw.Loader(dataset().map(fault(error)), 8)))
    raises(ValueError, lambda: list(mw.Loader(dataset().map(lambda e: {**e, "x": [1.0]}), 8)), "[1]", "[4]")
    raises(KeyError, lambda: list(mw.Loader(dataset().map(lambda e: {}), 8)), "x")
    before = trainer.read("fc1.weight").tolist()
    raises(KeyboardInterrupt, lambda: trainer.fit(made_by_function(64, 3, KeyboardInterrupt()), 1))
    check(trainer.read("fc1.weight").tolist() != before or trainer.steps >= 0, "the trainer lives on")
    check(trainer.fit(dataset(), 1).steps == 8, "and trains on")


def fault(error):
    def call(*_):
        raise error

    return call


def test_exceptions_of_a_progress_function_end_the_training():
    _, trainer = network()
    seen, error = [], Marked("enough")

    def progress(p):
        seen.append((p.step, p.loss))
        if p.step == 3:
            raise error

    check(raises(Marked, lambda: trainer.fit(dataset(), 5, progress=progress)) is error, "the same exception")
    check([step for step, _ in seen] == [1, 2, 3] and trainer.steps == 3, f"{seen}")
    stopped = raises(mw.Error, lambda: trainer.fit(dataset(), 5, progress=lambda p: p.step == 2))
    check(stopped.status == mw.Status.MW_ERROR_STOPPED and trainer.steps == 5, f"{stopped.status} {trainer.steps}")


def test_exceptions_while_a_graph_is_built():
    error, graph = Marked("no"), mw.Graph()
    x = graph.input("x", (2,))
    raises(Marked, lambda: mw.while_loop((x,), fault(error), lambda v: (v,)))
    graph = mw.Graph()
    x = graph.input("x", (2,))
    raises(Marked, lambda: mw.while_loop((x,), lambda v: mw.ops.less(x=v[0], y=1.0), fault(error)))
    graph = mw.Graph()
    x = graph.input("x", (2,))
    raises(Marked, lambda: mw.cond(mw.ops.less(x=x[0], y=1.0), lambda: x, fault(error)))
    graph = mw.Graph()
    x = graph.input("x", (2,))
    raises(ValueError, lambda: mw.while_loop((x,), lambda v: mw.ops.less(x=v[0], y=1.0), lambda v: (v, v)), "2 tensors")


def reversed_gradient(x, rule):
    return mw.custom_vjp("reverse", x * 1.0, [x], rule)


def test_gradients_of_ones_own_live_as_long_as_they_are_wanted():
    graph = mw.Graph()
    x = graph.input("x", (2,))
    kept = []

    def rule(inputs, y, dy):
        kept.append(dy)
        return [dy * -1.0]

    (dx,) = mw.grad(mw.ops.reduce_sum(reversed_gradient(x, rule), axes=[0]), [x])
    del rule
    gc.collect()
    dx.output("dx")
    check(mw.Program(graph).run(x=[1.0, 2.0])["dx"].tolist() == [-1.0, -1.0], "the rule")
    closed(lambda: kept[0] + 1.0)
    graph = mw.Graph()
    w = graph.parameter("w", (2,))

    def negative(inputs, y, dy):
        return [-dy]

    loss, kept = mw.ops.reduce_sum(reversed_gradient(w, negative), axes=[0]), weakref.ref(negative)
    del negative
    gc.collect()
    trainer = mw.Trainer(loss, mw.optim.sgd(1.0))
    graph.close()
    del graph, loss, w
    gc.collect()
    check(kept() is not None, "the rule of a graph that is gone, of which there is a trainer")
    before = trainer.read("w").tolist()
    trainer.step({})
    check(abs(trainer.read("w").tolist()[0] - before[0] - 1.0) < 1e-6, "the weight went up")
    graph = mw.Graph()
    x = graph.input("x", (2,))

    def within(inputs, y, dy):
        return [mw.custom_vjp("inner", dy * inputs[0], [dy, inputs[0]], lambda i, y, dy: [dy * 0.0, dy * 5.0])]

    (dx,) = mw.grad(mw.ops.reduce_sum(mw.custom_vjp("outer", x * 1.0, [x], within), axes=[0]), [x])
    del within
    gc.collect()
    (ddx,) = mw.grad(mw.ops.reduce_sum(dx, axes=[0]), [x])
    ddx.output("ddx")
    check(mw.Program(graph).run(x=[1.0, 2.0])["ddx"].tolist() == [5.0, 5.0], "a rule that is made in a rule")
    graph = mw.Graph()
    x = graph.input("x", (2,))
    loss = mw.ops.reduce_sum(reversed_gradient(x, fault(Marked("rule"))), axes=[0])
    raises(Marked, lambda: mw.grad(loss, [x]))


def test_functions_of_data_sets_are_kept():
    """By the data set, what is made of it and its loaders, though nobody else has them."""
    doubled = made_by_function().map(lambda e: {"x": [2 * v for v in e["x"].tolist()], "y": e["y"]})
    loader = mw.Loader(doubled.prefetch(4), 8)
    del doubled
    gc.collect()
    _, trainer = network()
    losses = [trainer.step(batch) for batch in loader]
    del loader
    gc.collect()
    check(len(losses) == 8 and trainer.fit(made_by_function().subset([1] * 16), 2).steps == 4, f"{losses}")


def test_the_log_hook_is_called_and_taken_off():
    lines = []
    mw.set_log(lambda level, line: lines.append((level, line)))
    gc.collect()
    _, trainer = network()
    trainer.close()
    mw.library.library.mw_trainer_destroy(trainer._pointer)  # a second time: the library says so
    mw.set_log(None)
    count = len(lines)
    mw.library.library.mw_trainer_destroy(trainer._pointer)
    check(count >= 1 and len(lines) == count and lines[-1][1], f"{lines}")


# ---- threads ----


def run_threads(functions):
    errors = []

    def call(function):
        try:
            function()
        except BaseException as error:  # pylint: disable=broad-except
            errors.append(error)

    threads = [threading.Thread(target=call, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def losses_of(seed):
    _, trainer = network(seed=seed)
    loader = mw.Loader(made_by_function(), 8, seed=seed)
    return [trainer.step(batch) for _ in range(4) for batch in loader]


def test_threads_have_the_losses_that_they_have_alone():
    alone, found = [losses_of(seed) for seed in range(4)], {}
    errors = run_threads([lambda s=seed: found.update({s: losses_of(s)}) for seed in range(4)])
    check(not errors and [found[seed] for seed in range(4)] == alone, f"{errors}")


def test_threads_may_build_one_graph():
    graph = mw.Graph()
    x = graph.input("x", (2,))
    made = []
    errors = run_threads([lambda: made.extend((x + 1.0).tanh() for _ in range(50)) for _ in range(6)])
    check(not errors and len(made) == 300 and graph.mil().count(" = tanh(") <= 300, f"{errors}")
    for i, tensor in enumerate(made):
        tensor.output(f"y{i}")
    check(len(mw.Program(graph).run(x=[0.0, 1.0])) == 300, "all of them")


def test_a_thread_waits_for_the_graph_of_another():
    """Also where that one is in a function of Python that a call makes."""
    graph, other = mw.Graph(), []
    x = graph.input("x", (2,))

    def body(value):
        thread = threading.Thread(target=lambda: other.append(x.tanh()))
        thread.start()
        thread.join(0.3)
        check(thread.is_alive() and not other, "it did not wait")
        other.append(thread)
        return (value * 2.0,)

    mw.while_loop((x,), lambda value: mw.ops.less(x=value[0], y=1.0), body)
    other[0].join()
    check(isinstance(other[1], mw.Tensor), f"{other}")


def test_one_trainer_refuses_a_second_thread_or_waits():
    """Calls on one trainer come one at a time: others meanwhile are an error, and never anything else."""
    _, trainer = network(batch=64)
    batch = {"x": examples(64)[0], "y": examples(64)[1]}
    errors = run_threads([lambda: [trainer.step(batch) for _ in range(50)] for _ in range(4)])
    check(all(isinstance(e, mw.Error) and e.status == mw.Status.MW_ERROR_STATE for e in errors), f"{errors}")
    check(trainer.step(batch) > 0.0, "it goes on")


def test_other_threads_of_python_go_on_during_a_call():
    graph = mw.Graph()
    y = graph.input("x", (1000, 1000))
    for _ in range(12):
        y = y @ y
    y.output("y")
    program, turns = mw.Program(graph, threads=1), 0

    def run_until_the_other_had_turns():
        for _ in range(1000):  # of some 100 ms; one is enough where no other program runs
            before = turns
            program.run()
            if turns > before + 20:
                return True
        return False

    held = []
    thread = threading.Thread(target=lambda: held.append(run_until_the_other_had_turns()))
    thread.start()
    while thread.is_alive():
        turns += 1
        time.sleep(0.001)
    check(held == [True], f"{turns} turns of the other thread")


def test_a_loader_waits_for_the_step_that_reads_its_batch():
    order = []
    _, trainer = network()
    loader = mw.Loader(dataset(), 8)
    batch = loader.next()
    with batch.held():
        thread = threading.Thread(target=lambda: (loader.close(), order.append("closed")))
        thread.start()
        thread.join(0.2)
        order.append("step")
        check(trainer.step(batch) > 0.0 and not loader.closed, "it did not wait")
    thread.join()
    check(order == ["step", "closed"] and loader.closed, f"{order}")


def test_a_handle_may_be_closed_while_another_thread_uses_it():
    for _ in range(5):
        _, trainer = network()
        loader = mw.Loader(made_by_function().prefetch(2), 8)
        errors = run_threads([lambda: [trainer.step(b) for b in loader], lambda: (time.sleep(0.002), trainer.close()),
                              lambda: (time.sleep(0.003), loader.close())])
        check(all(isinstance(e, mw.Error) and e.status == mw.Status.MW_ERROR_STATE for e in errors), f"{errors}")


# ---- the end ----

LIVE = """
import sys, threading, millwright as mw
graph = mw.Graph()
x, y = graph.input("x", (8, 4)), graph.input("y", (8,), mw.I32)
logits = mw.nn.dense(mw.custom_vjp("same", x * 1.0, [x], lambda i, y, dy: [dy]), 3, "fc")
trainer = mw.Trainer(mw.nn.cross_entropy(logits, y), mw.optim.adam(1e-2))
data = mw.Dataset.function({"x": (mw.F32, (4,)), "y": (mw.I32, ())}, 64, lambda e, c: [1.0] * 4 if c == "x" else e % 3)
loader = mw.Loader(data.map(lambda e: e).prefetch(8), 8)
batch = loader.next()
trainer.step(batch)
cycle = [graph, trainer, loader, data]
cycle.append(cycle)
graph.itself = graph
mw.set_log(lambda level, line: None)
"""


def ends_well(program, library, wanted=0, may_say="nothing"):
    result = python(program, library)
    check(result.returncode == wanted and (not result.stderr or result.stderr.startswith(may_say)),
          f"{result.returncode}: {result.stderr}")


def test_the_interpreter_ends_with_live_objects(library):
    ends_well(LIVE, library)
    ends_well(LIVE + "\nsys.exit(3)\n", library, 3)
    ends_well(LIVE + "\nimport gc\ndel cycle, graph, trainer, loader, data\ngc.collect()\n", library)
    ends_well(LIVE + "\nkept = sys.modules['kept'] = cycle\n", library)


def test_the_interpreter_ends_while_a_thread_trains(library):
    ends_well(LIVE + """
started = threading.Event()
def train():
    trainer.fit(data, 100000, progress=lambda p: started.set())
threading.Thread(target=train, daemon=True).start()
started.wait()
""", library, may_say="Exception in thread")  # Python may take its modules from a thread that is still in them
