"""Parts of one's own: layers that share their parameters wherever they are applied, and optimizers.

    block = Layer(graph, "block", lambda g, name, x: nn.dense(x[0], 8, name + ".fc").relu())
    y = block(block(x))

    def update(u):                       # the new parameter, and the new states
        velocity = u.states["velocity"] * 0.9 + u.g
        return u.p - velocity * u.learning_rate, {"velocity": velocity}
    trainer = Trainer(loss, custom(0.01, "momentum", update, states=["velocity"]))"""
from __future__ import annotations

import ctypes
import types
from typing import Any, Callable, List, Mapping, Optional, Sequence, Union

from . import abi
from .graph import Graph, Tensor, borrowed, pointers
from .library import Status, fill, library, report, text_of


class Layer:
    """function(graph, name, [tensor, ..]) appends operations; parameters that it makes are made by the first application
    and found by later ones. The graph owns it."""

    def __init__(self, graph: Graph, name: str, function: Callable[[Graph, str, Sequence[Tensor]], Tensor]) -> None:
        self.graph = graph
        self._raised: List[BaseException] = []

        def call(_, pointer, text, items, count):
            at = borrowed(pointer, graph._keep)
            try:
                made = function(at, text_of(text), [Tensor(at, items[i]) for i in range(count)])
                return ctypes.cast(made._as_parameter_, ctypes.c_void_p).value
            except BaseException as exception:  # pylint: disable=broad-except
                self._raised.append(exception)
                return None
            finally:
                at.close()

        thunk = abi.mw_layer_function(call)
        graph._keep.append(thunk)  # trainers that are made of the graph keep this list, too
        with graph._lock:
            self._pointer = library.mw_layer_create(graph, name.encode(), thunk, None)
            graph.check()

    def __call__(self, *x: Tensor) -> Tensor:
        with self.graph._lock:
            made = library.mw_layer_apply(self._pointer, pointers(x), len(x))
            if self._raised:
                raise self._raised.pop()
            return self.graph._wrap(made)


def _update(function, names, kept):
    """The update for C."""

    def call(asked, out_p, out_states, err):
        of = asked[0]
        graph = borrowed(of.graph, kept)
        try:
            rate = library.mw_update_call_scalar(ctypes.byref(of), b"learning_rate")
            said = types.SimpleNamespace(
                graph=graph, name=text_of(of.parameter[0].name), p=Tensor(graph, of.p), g=Tensor(graph, of.g),
                states={name: Tensor(graph, of.states[i]) for i, name in enumerate(names)},
                learning_rate=Tensor(graph, rate),
                weight_decay=of.weight_decay)
            made = function(said)
            p, states = made if isinstance(made, tuple) else (made, {})
            out_p[0] = p._as_parameter_
            for i, name in enumerate(names):
                out_states[i] = states[name]._as_parameter_
            return int(Status.MW_OK)
        except BaseException as exception:  # pylint: disable=broad-except
            return report(err, exception)
        finally:
            graph.close()

    return abi.mw_update_function(call)


def custom(learning_rate: float, name: str, update: Callable[[Any], Any],
           states: Union[Sequence[str], Mapping[str, float]] = (), settings: Optional[str] = None, **options: Any) -> Any:
    """An optimizer of one's own. update(u) returns the new parameter, or (it, {state: new value}); it has u.p, u.g,
    u.states, u.learning_rate (a tensor), u.weight_decay, u.name. States have the parameter's shape, from 0 or {name: first
    value}. Options: decays, scaled_gradients."""
    first = dict(states) if isinstance(states, Mapping) else dict.fromkeys(states, 0.0)
    names, texts = list(first), [name.encode() for name in first]

    def declare(_, of, out, count, err):
        for i, (text, value) in enumerate(zip(texts, first.values())):
            out[i].name, out[i].initial = text, value
        count[0] = len(texts)
        return int(Status.MW_OK)

    kept: List[Any] = [texts]
    functions = _update(update, names, kept), abi.mw_update_states_function(declare)
    title = name.encode()
    rule = fill(library.mw_optimizer_rule_defaults(title, functions[0]), options, kept, name)
    rule.states = functions[1]
    if settings is not None:
        rule.settings = settings.encode()
    made = library.mw_optimizer_custom(learning_rate, ctypes.byref(rule))
    made.keeps = (kept, functions, title, rule)  # as long as the value, and trainers that keep it
    return made
