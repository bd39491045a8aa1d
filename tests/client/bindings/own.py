"""Parts of one's own: layers and optimizers in Python, series, options that makers want to know."""
from frame import check, mw, raises


def shared(graph, x):
    block = mw.Layer(graph, "block", lambda _, name, given: mw.nn.dense(given[0], 4, name + ".fc").relu())
    return block(block(x))


def test_a_layer_shares_its_parameters():
    graph = mw.Graph()
    y = shared(graph, graph.input("x", (2, 4)))
    trainer = mw.Trainer(y.reduce_sum(axes=[0, 1]), mw.optim.sgd(0.1), threads=1)
    check(trainer.parameters == {"block.fc.weight": (4, 4), "block.fc.bias": (4,)}, f"{trainer.parameters}")
    graph.close()
    trainer.step(x=[[1.0] * 4] * 2)
    check(trainer.steps == 1, "without its graph")
    fresh = mw.Graph()
    x = fresh.input("x", (2, 4))
    raises(ZeroDivisionError, lambda: mw.Layer(fresh, "bad", lambda *_: 1 // 0)(x))


def momentum(u):
    velocity = u.states["velocity"] * 0.9 + u.g
    return u.p - velocity * u.learning_rate, {"velocity": velocity}


def test_an_optimizer_has_the_bits_of_the_one_in_c():
    graph = mw.Graph()
    y = shared(graph, graph.input("x", (2, 4)))
    loss = (y * y).reduce_mean(axes=[0, 1])
    mine = mw.Trainer(loss, mw.optim.custom(0.1, "momentum", momentum, states=["velocity"]), seed=1, threads=1)
    theirs = mw.Trainer(loss, mw.optim.sgd_momentum(0.1, 0.9, False), seed=1, threads=1)
    for _ in range(4):
        rows = [[1.0, 2.0, 3.0, 4.0], [0.5, -1.0, 0.0, 2.0]]
        check(mine.step(x=rows) == theirs.step(x=rows), "the loss")
    check(mine.read("block.fc.weight").tolist() == theirs.read("block.fc.weight").tolist(), "the weights")
    raises(KeyError, lambda: mw.Trainer(loss, mw.optim.custom(0.1, "bad", lambda u: u.states["none"])), "none")
    raises(mw.Error, lambda: mw.Trainer(loss, mw.optim.custom(0.1, "wide", lambda u: u.p.reshape(shape=[-1, 1]))), "wide")
    raises(TypeError, lambda: mw.optim.custom(0.1, "odd", momentum, decay=True), "decay")


def test_an_optimizer_goes_on_from_a_checkpoint(folder):
    def made(seed):
        graph = mw.Graph()
        y = shared(graph, graph.input("x", (2, 4)))
        rule = mw.optim.custom(0.1, "momentum", momentum, states={"velocity": 0.0})
        return mw.Trainer((y * y).reduce_mean(axes=[0, 1]), rule, seed=seed, threads=1)

    first, second, rows = made(1), made(2), [[1.0, 2.0, 3.0, 4.0]] * 2
    first.step(x=rows)
    first.save(folder / "c.safetensors")
    second.load(folder / "c.safetensors")
    check(first.step(x=rows) == second.step(x=rows), "a step later")


def test_series_are_cut_into_windows():
    series = mw.Dataset.arrays(a=[[float(i)] for i in range(20)], b=[float(-i) for i in range(20)])
    windows = series.window(4, horizon=2, stride=2, inputs=["a"], targets=["b"])
    check(windows.columns == {"a": (mw.F32, (4, 1)), "b.next": (mw.F32, (2,))}, f"{windows.columns}")
    batch = mw.Loader(windows, 1, shuffle=False).next()
    check(batch["a"].tolist() == [[[0.0], [1.0], [2.0], [3.0]]] and batch["b.next"].tolist() == [[-4.0, -5.0]], "the first")
    check(len(series.shard(0, 3)) == 6, "a part of three")
    raises(mw.Error, lambda: series.window(4, inputs=["c"]), "c")


def test_what_options_want_to_know_is_an_argument():
    graph = mw.Graph()
    x = graph.input("x", (1, 2, 8, 8))
    check(mw.nn.max_pool(x, (2, 2), stride=(2, 2)).shape == (1, 2, 4, 4), "the window")
    check(mw.nn.max_pool(x, kernel=(4, 4), stride=(4, 4)).shape == (1, 2, 2, 2), "by its name")
    check(mw.nn.log_mel(graph.input("s", (1, 16000)), 16000, mels=40).shape[:2] == (1, 40), "a rate")
    raises(TypeError, lambda: mw.nn.max_pool(x), "kernel")
    raises(TypeError, lambda: mw.nn.max_pool(x, (2, 2), strides=(2, 2)), "strides", "stride")
