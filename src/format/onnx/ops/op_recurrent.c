/* Recurrent layers: S steps, B examples, D directions, I numbers in, H states, G gates. The gates of a weight lie in
 * another order in MIL, so weights are put together anew; those that the file holds stay constants. */
#include "format/onnx/read/moved.h"

#include <millwright/ops/elementwise.h>
#include <millwright/ops/recurrent.h>
#include <millwright/ops/shape.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GATES_MAX = 4 };
/* Inputs by their place. */
enum { WEIGHT = 1, RECURRENCE, BIAS, LENGTHS, INITIAL_H, INITIAL_C, PEEPHOLE };

/* An input that is made of constants. */
typedef struct known_weight {
    mw__onnx_literal literal; /* without data: it is computed */
    const char *name;         /* or NULL */
} known_weight;

typedef struct layer {
    mw__onnx_node *node;
    const int *order; /* of ONNX's gates, as MIL wants them */
    int gates;        /* G */
    int64_t hidden, directions;
    bool batch_first, reset_after;
    mw_tensor *x; /* [S, B, I] */
    mw_recurrent_options options;
    known_weight known[PEEPHOLE + 1];
} layer;

static const int order_lstm[] = {0, 2, 1, 3}; /* i o f c -> i f o z */
static const int order_gru[] = {1, 2, 0};     /* z r h -> r n z */
static const int order_rnn[] = {0};

static const int order_peephole[] = {0, 2, 1}; /* i o f -> i f o */

/* ---- weights ---- */

/* [D, n, ..] -> rows of one direction: blocks of H rows, `count` of them from block `first` on, in MIL's order. */
typedef struct block_choice {
    int64_t direction;
    int first, count;
    const int *order;
} block_choice;

/* The blocks of a literal, as a literal. */
static bool choose_literal(const layer *l, const mw__onnx_literal *from, const block_choice *choice,
                           mw__onnx_literal *out)
{
    mw__onnx_import *import = l->node->import;
    const int64_t rows = from->shape.dim[1], width = from->shape.rank == 3 ? from->shape.dim[2] : 1;
    const size_t block = (size_t)(l->hidden * width) * mw__onnx_type_size(from->type);
    if (mw__onnx_charge(import, (uint64_t)choice->count, 2 * block) != MW_OK) /* here and in the graph */
        return false;
    uint8_t *data = mw__arena_alloc(&import->arena, (size_t)choice->count, block, import->err);
    if (data == NULL)
        return false;
    const uint8_t *start = (const uint8_t *)from->data + block * (size_t)(choice->direction * rows / l->hidden);
    for (int i = 0; i < choice->count; i++)
        memcpy(data + (size_t)i * block, start + block * (size_t)(choice->first + choice->order[i]), block);
    const mw_shape shape = {.rank = from->shape.rank - 1, .dim = {choice->count * l->hidden, width}};
    *out = (mw__onnx_literal){from->type, shape, (size_t)mw_shape_count(shape), data, NULL, 0};
    return true;
}

/* A constant `name`.<direction><first block>, or without a name if there is none, or it is taken. */
static mw_tensor *emit_literal(const layer *l, const char *name, const block_choice *choice,
                               const mw__onnx_literal *literal)
{
    mw__onnx_import *import = l->node->import;
    char whole[MW_NAME_MAX];
    const int length = snprintf(whole, sizeof whole, "%s.%s%d", name != NULL ? name : "",
                                choice->direction == 0 ? "forward" : "reverse", choice->first);
    const bool named = name != NULL && length < MW_NAME_MAX && mw_graph_find(import->graph, whole) == NULL;
    mw__onnx_value value = {
        .name = whole, .type = literal->type, .shape = literal->shape, .literal = literal, .weight = named};
    return mw__onnx_emit(import, &value);
}

/* What is known of an input: a constant of the file, or made of such. */
static void find_known(layer *l, size_t index)
{
    const mw__onnx_value *value = mw__onnx_has(l->node, index) ? l->node->in[index] : NULL;
    known_weight *known = &l->known[index];
    mw__onnx_moved moved = {.import = l->node->import};
    if (value != NULL && value->literal != NULL)
        *known = (known_weight){*value->literal, value->weight ? value->name : NULL};
    else if (value != NULL && mw__onnx_moved_find(&moved, value->tensor))
        *known = (known_weight){moved.literal, moved.name};
}

static mw_tensor *part(mw_tensor *x, int64_t direction, int64_t begin, int64_t count)
{
    const int rank = x != NULL ? mw_tensor_shape(x).rank : 1;
    mw_slice slices[3] = {{.begin = direction, .squeeze = true},
                          {.begin = begin, .end = begin + count},
                          {.from_start = true, .to_end = true}};
    return rank == 2 || rank == 3 ? mw_slice_by_index(x, slices) : NULL;
}

static mw_tensor *choose_block(const layer *l, size_t index, const block_choice *choice)
{
    const known_weight *known = &l->known[index];
    mw__onnx_literal literal;
    if (known->literal.data != NULL)
        return choose_literal(l, &known->literal, choice, &literal) ? emit_literal(l, known->name, choice, &literal)
                                                                    : NULL;
    mw_tensor *blocks[GATES_MAX], *whole = mw__onnx_in(l->node, index);
    for (int i = 0; i < choice->count; i++)
        blocks[i] = part(whole, choice->direction, (choice->first + choice->order[i]) * l->hidden, l->hidden);
    return choice->count == 1 ? blocks[0] : mw_concat(blocks, (size_t)choice->count, 0);
}

static bool is_zero(const mw__onnx_literal *literal)
{
    bool zero = true;
    for (size_t i = 0; zero && i < literal->count; i++)
        zero = mw__onnx_literal_float(literal, i) == 0.0;
    return zero;
}

/* Of two biases that the file holds: zeros that stand beside the other, for want of one, have no name to be trained by.
 */
static mw_tensor *add_known_biases(const layer *l, const block_choice *choice, const mw__onnx_literal *literal)
{
    const char *name = l->known[BIAS].name;
    const bool first = !is_zero(&literal[0]), second = !is_zero(&literal[1]);
    mw_tensor *a = emit_literal(l, first || !second ? name : NULL, &choice[0], &literal[0]);
    return mw_add(a, emit_literal(l, second ? name : NULL, &choice[1], &literal[1]));
}

/* The two biases as one: of fp32 constants it is a constant, as MIL's operations want it. */
static mw_tensor *add_biases(const layer *l, const block_choice *choice)
{
    const known_weight *known = &l->known[BIAS];
    mw__onnx_literal literal[2];
    if (known->literal.data == NULL) {
        mw_tensor *first = choose_block(l, BIAS, &choice[0]);
        return mw_add(first, choose_block(l, BIAS, &choice[1]));
    }
    for (int i = 0; i < 2; i++)
        if (!choose_literal(l, &known->literal, &choice[i], &literal[i]))
            return NULL;
    if (known->literal.type != MW__ONNX_FLOAT)
        return add_known_biases(l, choice, literal);
    float *sums = (float *)(void *)literal[0].data, more;
    for (size_t i = 0; i < literal[0].count; i++) {
        memcpy(&more, (const uint8_t *)literal[1].data + i * sizeof more, sizeof more);
        sums[i] += more;
    }
    return emit_literal(l, known->name, &choice[0], &literal[0]);
}

static mw_recurrent_weights weights_of(const layer *l, int64_t direction)
{
    mw_recurrent_weights w = {0};
    block_choice choice = {direction, 0, l->gates, l->order};
    w.weight_ih = choose_block(l, WEIGHT, &choice);
    w.weight_hh = choose_block(l, RECURRENCE, &choice);
    if (mw__onnx_has(l->node, BIAS)) {
        const block_choice both[] = {choice, {direction, l->gates, l->gates, l->order}};
        w.bias = l->reset_after ? choose_block(l, BIAS, &both[1]) : add_biases(l, both);
        w.input_bias = l->reset_after ? choose_block(l, BIAS, &both[0]) : NULL;
    }
    if (l->gates == 4 && mw__onnx_has(l->node, PEEPHOLE)) {
        choice = (block_choice){direction, 0, 3, order_peephole};
        w.peephole = choose_block(l, PEEPHOLE, &choice);
    }
    return w;
}

/* ---- what is asked for ---- */

static bool named(const ProtobufCBinaryData *text, const char *name)
{
    return text->len == strlen(name) && memcmp(text->data, name, text->len) == 0;
}

/* A number of the next activation that has some: lists may be shorter than that. */
static bool is_number(const Mw__Onnx__Attribute *list, size_t at, double fallback, double wanted)
{
    const double value = list != NULL && at < list->n_floats ? (double)list->floats[at] : fallback;
    return fabs(value - wanted) < 1e-6;
}

/* Those with numbers must have the ones that MIL's have. */
static bool find_activation(const layer *l, const ProtobufCBinaryData *text, size_t *numbers, mw_activation *out)
{
    static const struct {
        const char *name;
        mw_activation value;
        bool has_numbers;
        double alpha, beta;
    } rows[] = {{"Tanh", MW_ACTIVATION_TANH, false, 0, 0},
                {"Sigmoid", MW_ACTIVATION_SIGMOID, false, 0, 0},
                {"Relu", MW_ACTIVATION_RELU, false, 0, 0},
                {"HardSigmoid", MW_ACTIVATION_HARD_SIGMOID, true, 0.2, 0.5},
                {"Affine", MW_ACTIVATION_LINEAR, true, 1, 0}};
    const Mw__Onnx__Attribute *alpha = mw__onnx_attribute(l->node, "activation_alpha");
    const Mw__Onnx__Attribute *beta = mw__onnx_attribute(l->node, "activation_beta");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!named(text, rows[i].name))
            continue;
        *out = rows[i].value;
        const size_t at = *numbers;
        *numbers += rows[i].has_numbers;
        return !rows[i].has_numbers ||
               (is_number(alpha, at, rows[i].alpha, rows[i].alpha) && is_number(beta, at, rows[i].beta, rows[i].beta));
    }
    return false;
}

/* lstm: f g h; gru: f g; rnn: f; for each direction, which must be equal. */
static mw_status read_activations(layer *l)
{
    const Mw__Onnx__Attribute *list = mw__onnx_attribute(l->node, "activations");
    const size_t each = l->gates == 4 ? 3 : l->gates == 3 ? 2 : 1;
    mw_activation found[3] = {0};
    size_t numbers = 0;
    if (list == NULL || list->n_strings == 0)
        return MW_OK;
    if (list->n_strings != each * (size_t)l->directions)
        return mw__onnx_refuse(l->node, "%zu activations", list->n_strings);
    for (size_t i = 0; i < list->n_strings; i++) {
        mw_activation one;
        if (!find_activation(l, &list->strings[i], &numbers, &one) || (i >= each && one != found[i % each]))
            return mw__onnx_refuse(
                l->node,
                "its activations are not all Tanh, Sigmoid, Relu, HardSigmoid (0.2, 0.5) or Affine (1, 0), the "
                "same both ways");
        found[i % each] = one;
    }
    l->options.activation = found[each - 1];
    if (each > 1)
        l->options.recurrent_activation = found[0];
    if (each == 3)
        l->options.cell_activation = found[1];
    return MW_OK;
}

/* All examples must have all steps. */
static mw_status check_lengths(layer *l, mw_shape x)
{
    int64_t lengths[MW__ONNX_KNOWN_MAX / 8];
    size_t count;
    if (!mw__onnx_has(l->node, LENGTHS))
        return MW_OK;
    MW_TRY(mw__onnx_known_ints(l->node, LENGTHS, lengths, sizeof lengths / sizeof *lengths, &count));
    for (size_t i = 0; i < count; i++)
        if (lengths[i] != x.dim[l->batch_first ? 1 : 0])
            return mw__onnx_refuse(l->node, "sequences of different lengths are not supported");
    return MW_OK;
}

static mw_status check_shapes(layer *l)
{
    const mw_shape w = mw__onnx_shape(l->node, WEIGHT), r = mw__onnx_shape(l->node, RECURRENCE);
    l->hidden = r.rank == 3 ? r.dim[2] : 0;
    l->directions = r.rank == 3 ? r.dim[0] : 0;
    const int64_t rows = l->gates * l->hidden;
    bool good = w.rank == 3 && l->hidden > 0 && l->directions >= 1 && l->directions <= 2 && w.dim[1] == rows &&
                r.dim[1] == rows && w.dim[0] == l->directions && mw__onnx_shape(l->node, 0).rank == 3;
    if (good && mw__onnx_has(l->node, BIAS)) {
        const mw_shape b = mw__onnx_shape(l->node, BIAS);
        good = b.rank == 2 && b.dim[0] == l->directions && b.dim[1] == 2 * rows;
    }
    if (good && mw__onnx_has(l->node, PEEPHOLE)) {
        const mw_shape p = mw__onnx_shape(l->node, PEEPHOLE);
        good = p.rank == 2 && p.dim[0] == l->directions && p.dim[1] == 3 * l->hidden;
    }
    return good ? MW_OK : mw__onnx_refuse(l->node, "its weights do not fit each other");
}

static mw_status read_layer(layer *l)
{
    mw__onnx_node *node = l->node;
    l->options = mw_recurrent_defaults();
    l->batch_first = mw__onnx_int(node, "layout", 0) != 0;
    l->reset_after = l->gates == 3 && mw__onnx_int(node, "linear_before_reset", 0) != 0;
    if (mw__onnx_attribute(node, "clip") != NULL || mw__onnx_int(node, "input_forget", 0) != 0)
        return mw__onnx_refuse(node, "clip and input_forget are not supported");
    MW_TRY(check_shapes(l));
    MW_TRY(check_lengths(l, mw__onnx_shape(node, 0)));
    MW_TRY(read_activations(l));
    static const size_t weights[] = {WEIGHT, RECURRENCE, BIAS, PEEPHOLE};
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        find_known(l, weights[i]);
    l->x = mw__onnx_in(node, 0);
    if (l->batch_first)
        l->x = mw_transpose(l->x, MW_AXES(1, 0, 2));
    return MW_OK;
}

/* ---- states ---- */

/* [D, B, H], or [B, D, H], as [B, H] of one direction, or [B, D H] of both (direction -1). */
static mw_tensor *initial(const layer *l, size_t index, int64_t direction)
{
    mw_tensor *given = mw__onnx_in(l->node, index);
    if (given == NULL)
        return NULL;
    if (!l->batch_first)
        given = mw_transpose(given, MW_AXES(1, 0, 2));
    const mw_shape shape = given != NULL ? mw_tensor_shape(given) : (mw_shape){0};
    if (direction < 0 || l->directions == 1)
        return mw_reshape(given, MW_SHAPE(shape.dim[0], shape.dim[1] * shape.dim[2]));
    mw_slice slices[3] = {{.from_start = true, .to_end = true},
                          {.begin = direction, .squeeze = true},
                          {.from_start = true, .to_end = true}};
    return mw_slice_by_index(given, slices);
}

/* y [S, B, D H] as [S, D, B, H], or [B, S, D, H]. */
static mw_status give_outputs(const layer *l, mw_tensor *y)
{
    if (y == NULL)
        return mw__onnx_set(l->node, 0, 0, NULL);
    const mw_shape shape = mw_tensor_shape(y);
    mw_tensor *apart = mw_reshape(y, MW_SHAPE(shape.dim[0], shape.dim[1], l->directions, l->hidden));
    return mw__onnx_set(l->node, 0, mw__onnx_type(l->node, 0),
                        mw_transpose(apart, l->batch_first ? MW_AXES(1, 0, 2, 3) : MW_AXES(0, 2, 1, 3)));
}

/* [B, D H] as [D, B, H], or [B, D, H]. */
static mw_status give_state(const layer *l, size_t index, mw_tensor *state)
{
    if (state == NULL)
        return mw__onnx_set(l->node, index, 0, NULL);
    const mw_shape shape = mw_tensor_shape(state);
    mw_tensor *apart = mw_reshape(state, MW_SHAPE(shape.dim[0], l->directions, l->hidden));
    if (!l->batch_first)
        apart = mw_transpose(apart, MW_AXES(1, 0, 2));
    return mw__onnx_set(l->node, index, mw__onnx_type(l->node, 0), apart);
}

/* ---- operators ---- */

static bool is_reverse(const layer *l) { return mw__onnx_is(l->node, "direction", "reverse"); }

mw_status mw__onnx_lstm(mw__onnx_node *node)
{
    layer l = {.node = node, .order = order_lstm, .gates = 4};
    MW_TRY(read_layer(&l));
    const mw_recurrent_weights forward = weights_of(&l, 0);
    l.options.direction = is_reverse(&l) ? MW_REVERSE : MW_FORWARD;
    if (l.directions == 2) {
        l.options.direction = MW_BIDIRECTIONAL;
        l.options.back = weights_of(&l, 1);
    }
    mw_tensor *h = initial(&l, INITIAL_H, -1), *c = initial(&l, INITIAL_C, -1);
    const mw_recurrent made = mw_lstm(l.x, h, c, &forward, &l.options);
    MW_TRY(give_outputs(&l, made.y));
    MW_TRY(give_state(&l, 1, made.h));
    return give_state(&l, 2, made.c);
}

/* One direction of gru or rnn, y in the order of the steps. */
static mw_recurrent one_way(layer *l, int64_t direction)
{
    const bool reverse = direction == 1 || is_reverse(l);
    const mw_recurrent_weights weights = weights_of(l, direction);
    mw_tensor *h = initial(l, INITIAL_H, direction);
    l->options.reset_after = l->reset_after;
    l->options.direction = reverse ? MW_REVERSE : MW_FORWARD;
    mw_recurrent made = l->gates == 3 ? mw_gru(l->x, h, &weights, &l->options) : mw_rnn(l->x, h, &weights, &l->options);
    if (reverse && l->gates == 1) /* MIL's rnn gives the last step first */
        made.y = mw_reverse(made.y, MW_AXES(0));
    return made;
}

static mw_status both_ways(layer *l)
{
    mw_recurrent made = one_way(l, 0);
    if (l->directions == 2) {
        const mw_recurrent back = one_way(l, 1);
        if (made.y == NULL || back.y == NULL)
            return mw__onnx_set(l->node, 0, 0, NULL);
        made.y = mw_concat((mw_tensor *[]){made.y, back.y}, 2, 2);
        made.h = mw_concat((mw_tensor *[]){made.h, back.h}, 2, 1);
    }
    MW_TRY(give_outputs(l, made.y));
    return give_state(l, 1, made.h);
}

mw_status mw__onnx_gru(mw__onnx_node *node)
{
    layer l = {.node = node, .order = order_gru, .gates = 3};
    MW_TRY(read_layer(&l));
    return both_ways(&l);
}

mw_status mw__onnx_rnn(mw__onnx_node *node)
{
    layer l = {.node = node, .order = order_rnn, .gates = 1};
    MW_TRY(read_layer(&l));
    return both_ways(&l);
}
