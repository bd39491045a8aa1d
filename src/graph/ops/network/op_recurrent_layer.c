/* Recurrent layers with PyTorch's parameters. Nothing is converted between its order of gates and MIL's: the steps are
 * written for either (patterns/recurrent_cell.c). */
#include <millwright/ops/recurrent.h>

#include <millwright/ops/elementwise.h>
#include <millwright/ops/random.h>
#include <millwright/ops/shape.h>

#include "base/number/float_mode.h"
#include "graph/ir/rule.h"
#include "graph/patterns/recurrent.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { LAYERS_MAX = 1000 }; /* so that their number has three digits in a name */

mw_recurrent_layer_options mw_recurrent_layer_defaults(void)
{
    return (mw_recurrent_layer_options){.struct_size = sizeof(mw_recurrent_layer_options), .layers = 1, .bias = true};
}

/* What a layer was asked for, and what it has come to. */
typedef struct stack {
    const char *operation, *name;
    mw__cell cell;
    mw_tensor *x; /* [S, B, I] of the layer that is built next */
    int64_t hidden;
    mw_recurrent_layer_options options;
    int directions;
    mw_tensor **h, **c; /* [layers * D] of [1, B, H] each; c of lstm alone */
} stack;

/* ---- checks ---- */

static bool refuse_stack(const stack *s, mw_status status, const char *what, const mw_tensor *x)
{
    char shape[200];
    mw__graph_fail(s->x->graph, status, "%s \"%s\": %s, not %s", s->operation, s->name, what,
                   mw__shape_print(mw_tensor_shape(x), shape, sizeof shape));
    return false;
}

static bool check_numbers(const stack *s)
{
    mw_graph *graph = s->x->graph;
    const mw_recurrent_layer_options *o = &s->options;
    if (s->name == NULL || s->name[0] == '\0')
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s: the name is empty", s->operation);
    else if (o->struct_size != sizeof *o)
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s \"%s\": the options were not made by mw_recurrent_layer_defaults",
                       s->operation, s->name);
    else if (s->hidden < 1 || s->hidden > INT32_MAX)
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s \"%s\": %" PRId64 " hidden elements are outside [1, %d]",
                       s->operation, s->name, s->hidden, INT32_MAX);
    else if (o->layers < 1 || o->layers > LAYERS_MAX)
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s \"%s\": %d layers are outside [1, %d]", s->operation, s->name,
                       o->layers, LAYERS_MAX);
    else if (!(o->dropout >= 0.0F && o->dropout < 1.0F))
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s \"%s\": dropout %g is outside [0, 1)", s->operation, s->name,
                       (double)o->dropout);
    else if (s->cell != MW__CELL_LSTM && o->c != NULL)
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s \"%s\": has no cells to begin with", s->operation, s->name);
    return graph->error.status == MW_OK;
}

static bool check_state(const stack *s, const mw_tensor *state, const char *what)
{
    const mw_shape x = mw_tensor_shape(s->x), own = mw_tensor_shape(state);
    const mw_shape wanted = MW_SHAPE((int64_t)s->options.layers * s->directions, x.dim[1], s->hidden);
    char a[200], b[200];
    if (state == NULL || mw_shape_equal(own, wanted))
        return true;
    mw__graph_fail(s->x->graph, MW_ERROR_SHAPE, "%s \"%s\": %s %s is not [layers * directions, batch, hidden] = %s",
                   s->operation, s->name, what, mw__shape_print(own, a, sizeof a),
                   mw__shape_print(wanted, b, sizeof b));
    return false;
}

static bool check_x(const stack *s)
{
    const mw_shape x = mw_tensor_shape(s->x);
    const mw_dtype dtype = mw_tensor_dtype(s->x);
    if (dtype != MW_F32 && dtype != MW_F16) {
        mw__graph_fail(s->x->graph, MW_ERROR_DTYPE, "%s \"%s\": x is %s, not fp16 or fp32", s->operation, s->name,
                       mw_dtype_name(dtype));
        return false;
    }
    if (x.rank != 3 || x.dim[0] < 1 || x.dim[1] < 1 || x.dim[2] < 1)
        return refuse_stack(s, MW_ERROR_SHAPE, "x must have steps, batch and inputs, all known and positive", s->x);
    return true;
}

/* ---- parameters ---- */

/* "weight_ih_l0_reverse" */
static mw_tensor *parameter(const stack *s, const char *stem, int layer, int direction, mw_shape shape)
{
    char part[48];
    const float bound = (float)(1.0 / sqrt((double)s->hidden));
    snprintf(part, sizeof part, "%s_l%d%s", stem, layer, direction == 1 ? "_reverse" : "");
    return mw__layer_parameter(s->x, s->operation, s->name, part, shape, mw_init_uniform(-bound, bound));
}

/* Two biases that are added anyway are added before: they are small. With gru's reset the hidden one stays apart. */
static void set_biases(const stack *s, mw__recurrent *r, int layer, int direction)
{
    const mw_shape shape = MW_SHAPE(r->gates * s->hidden);
    mw_tensor *input = parameter(s, "bias_ih", layer, direction, shape);
    mw_tensor *hidden = parameter(s, "bias_hh", layer, direction, shape);
    if (s->cell == MW__CELL_GRU) {
        r->half[direction].input_bias = input;
        r->half[direction].bias = hidden;
    } else {
        r->half[direction].bias = mw_add(input, hidden);
    }
}

static void set_weights(const stack *s, mw__recurrent *r, int layer, int direction)
{
    const int64_t rows = r->gates * s->hidden, inputs = mw_tensor_shape(s->x).dim[2];
    r->half[direction].weight_ih = parameter(s, "weight_ih", layer, direction, MW_SHAPE(rows, inputs));
    r->half[direction].weight_hh = parameter(s, "weight_hh", layer, direction, MW_SHAPE(rows, s->hidden));
    if (s->options.bias)
        set_biases(s, r, layer, direction);
}

/* ---- layers ---- */

static mw__recurrent network(const stack *s)
{
    return (mw__recurrent){.cell = s->cell,
                           .gates = s->cell == MW__CELL_LSTM ? 4 : 3,
                           .direction = MW_FORWARD,
                           .sequence = true,
                           .reset_after = s->cell == MW__CELL_GRU,
                           .torch_order = true,
                           .gate = MW_ACTIVATION_SIGMOID,
                           .candidate = s->cell == MW__CELL_LSTM ? MW_ACTIVATION_TANH : MW_ACTIVATION_LINEAR,
                           .output = MW_ACTIVATION_TANH,
                           .clip = (double)INFINITY,
                           .x = s->x};
}

/* Replaces the states before this direction by those after it, and returns its outputs. */
static mw_tensor *direction_of(stack *s, int layer, int direction)
{
    const int at = layer * s->directions + direction;
    mw__recurrent r = network(s);
    mw_tensor *out[3];
    set_weights(s, &r, layer, direction);
    if (s->x->graph->error.status != MW_OK)
        return NULL;
    mw__recurrent_write_half(&r, direction, s->h[at], s->c != NULL ? s->c[at] : NULL, out);
    s->h[at] = out[1];
    if (s->c != NULL)
        s->c[at] = out[2];
    return out[0];
}

static mw_tensor *dropped(const stack *s, mw_tensor *y, int layer)
{
    char name[MW_NAME_MAX + 1];
    if (s->options.dropout == 0.0F || layer + 1 == s->options.layers)
        return y;
    snprintf(name, sizeof name, "%s.dropout_l%d", s->name, layer);
    return mw_dropout(y, s->options.dropout, name);
}

static void add_layer(stack *s, int layer)
{
    mw_tensor *y[2] = {direction_of(s, layer, 0), NULL};
    if (s->directions == 2)
        y[1] = direction_of(s, layer, 1);
    if (y[0] == NULL || (s->directions == 2 && y[1] == NULL))
        return;
    s->x = dropped(s, s->directions == 2 ? mw_concat(y, 2, 2) : y[0], layer);
}

/* States before the first step, one for each layer and direction, [1, B, H]. */
static mw_tensor **first_states(const stack *s, mw_tensor *given)
{
    mw_graph *graph = s->x->graph;
    const size_t count = (size_t)s->options.layers * (size_t)s->directions;
    mw_tensor **states = mw__arena_alloc(&graph->arena, count, sizeof(mw_tensor *), &graph->error);
    if (states == NULL)
        return NULL;
    if (given != NULL && count > 1)
        return mw_split(given, count, 0, states) == MW_OK ? states : NULL;
    const mw_shape shape = MW_SHAPE(1, mw_tensor_shape(s->x).dim[1], s->hidden);
    mw_tensor *all = given != NULL ? given : mw_fill(graph, mw_tensor_dtype(s->x), shape, 0.0);
    for (size_t i = 0; i < count; i++)
        states[i] = all;
    return all != NULL ? states : NULL;
}

static mw_tensor *joined(const stack *s, mw_tensor **states)
{
    const size_t count = (size_t)s->options.layers * (size_t)s->directions;
    if (states == NULL)
        return NULL;
    return count > 1 ? mw_concat(states, count, 0) : states[0];
}

/* Steps first, or the batch. */
static mw_tensor *turned(const stack *s, mw_tensor *x)
{
    return s->options.batch_first ? mw_transpose(x, MW_AXES(1, 0, 2)) : x;
}

static mw_recurrent build_layers(stack *s)
{
    const mw_recurrent nothing = {NULL, NULL, NULL};
    if (!check_x(s))
        return nothing;
    s->x = turned(s, s->x);
    if (s->x == NULL || !check_state(s, s->options.h, "h") || !check_state(s, s->options.c, "c"))
        return nothing;
    mw_graph *graph = s->x->graph;
    s->h = first_states(s, s->options.h);
    s->c = s->cell == MW__CELL_LSTM ? first_states(s, s->options.c) : NULL;
    for (int layer = 0; graph->error.status == MW_OK && layer < s->options.layers; layer++)
        add_layer(s, layer);
    if (graph->error.status != MW_OK)
        return nothing;
    mw_recurrent out = {.y = turned(s, s->x)};
    out.h = joined(s, s->h);
    out.c = joined(s, s->c);
    return graph->error.status == MW_OK ? out : nothing;
}

static mw_recurrent layer(const char *operation, mw__cell cell, mw_tensor *x, int64_t hidden, const char *name,
                          const mw_recurrent_layer_options *options)
{
    stack s = {.operation = operation,
               .name = name,
               .cell = cell,
               .x = x,
               .hidden = hidden,
               .options = options != NULL ? *options : mw_recurrent_layer_defaults()};
    if (x == NULL || x->graph->error.status != MW_OK || !check_numbers(&s))
        return (mw_recurrent){NULL, NULL, NULL};
    mw_graph *graph = x->graph;
    const char *outer = graph->scope;
    s.directions = s.options.bidirectional ? 2 : 1;
    graph->scope = name;
    const mw_recurrent out = build_layers(&s);
    graph->scope = outer;
    return out;
}

mw_recurrent mw_lstm_layer(mw_tensor *x, int64_t hidden, const char *name, const mw_recurrent_layer_options *options)
{
    MW__FLOAT_SCOPE;
    return layer("lstm_layer", MW__CELL_LSTM, x, hidden, name, options);
}

mw_recurrent mw_gru_layer(mw_tensor *x, int64_t hidden, const char *name, const mw_recurrent_layer_options *options)
{
    MW__FLOAT_SCOPE;
    return layer("gru_layer", MW__CELL_GRU, x, hidden, name, options);
}
