/* Recurrent layers: S steps, B examples, D directions, I numbers in, H states, G gates. Gates lie in another order in
 * ONNX, so weights are put together anew. */
#include "format/onnx/write/write_args.h"
#include "graph/constants/compressed.h"

#include <string.h>

typedef struct layer {
    mw__onnx_writer *w;
    const mw__op *op;
    const int *order; /* MIL's gates, as ONNX wants them */
    int gates;        /* G */
    int64_t hidden, directions;
    const char *direction;
} layer;

static const int order_lstm[] = {0, 2, 1, 3}; /* i f o z -> i o f c */
static const int order_gru[] = {2, 0, 1};     /* r n z -> z r h */
static const int order_rnn[] = {0};
static const int order_peephole[] = {0, 2, 1}; /* i f o -> i o f */

/* ---- weights ---- */

/* Rows of each direction, in blocks of H; NULL stands for zeros. */
typedef struct rows {
    const char *name[2];
    const int *order;
    int count;
} rows;

/* Without what the reader puts behind the name of a weight that it takes apart (op_recurrent.c). */
static const char *plain_name(mw__onnx_writer *w, const char *name)
{
    static const char *const ends[] = {".forward0", ".forward3", ".forward4"};
    const size_t length = name != NULL ? strlen(name) : 0, end = strlen(ends[0]);
    for (size_t i = 0; length > end && i < sizeof ends / sizeof *ends; i++)
        if (strcmp(name + length - end, ends[i]) == 0)
            return mw__arena_string(&w->arena, name, length - end, w->err);
    return name;
}

static const char *free_name(mw__onnx_writer *w, const mw_tensor *weight)
{
    const char *name = plain_name(w, weight->name);
    if (name == NULL || mw__map_get(&w->taken, name) != NULL)
        return mw__onnx_fresh(w);
    return mw__map_set(&w->taken, name, (void *)(uintptr_t)weight, w->err) == MW_OK ? name : NULL;
}

static void copy_run(const mw__payload *from, size_t offset, size_t size, char *to)
{
    if (!from->splat)
        memcpy(to, (const char *)from->data + offset, size);
    for (size_t i = 0; from->splat && i + from->size <= size; i += from->size)
        memcpy(to + i, from->data, from->size);
}

static mw_tensor *weight_of(const layer *l, const rows *from, int64_t direction)
{
    const char *name = from->name[direction];
    return name != NULL && mw__arg_present(l->op, name) ? mw__arg(l->op, name) : NULL;
}

/* False, with the problem noted, if the weight is computed. */
static bool copy_rows(const layer *l, const rows *from, int64_t direction, size_t block, char *to)
{
    const mw_tensor *weight = weight_of(l, from, direction);
    if (weight == NULL)
        return true;
    const mw__payload *payload = mw__onnx_payload(l->w, weight);
    if (payload == NULL) {
        mw__onnx_cannot(l->w, l->op, "with computed weights it is not written yet");
        return false;
    }
    for (int i = 0; i < from->count; i++)
        copy_run(payload, (size_t)from->order[i] * block, block, to + (size_t)i * block);
    return true;
}

/* [D, rows, width], or [D, rows] for width 0, of one or two runs of rows; "" if all are absent. */
static const char *pack_rows(const layer *l, const rows *parts, size_t part_count, int64_t width)
{
    mw_shape shape = {.rank = width > 0 ? 3 : 2, .dim = {l->directions, 0, width}};
    const mw_tensor *named = NULL;
    for (size_t i = 0; i < part_count; i++) {
        shape.dim[1] += parts[i].count * l->hidden;
        named = named != NULL ? named : weight_of(l, &parts[i], 0);
        named = named != NULL || l->directions == 1 ? named : weight_of(l, &parts[i], 1);
    }
    if (named == NULL)
        return "";
    const mw__type type = {.kind = MW__TENSOR, .dtype = named->type->dtype, .shape = shape};
    const size_t element = (size_t)mw_dtype_bits(type.dtype) / 8;
    const size_t block = (size_t)(l->hidden * (width > 0 ? width : 1)) * element;
    size_t size = 0, at = 0;
    char *data = mw__type_bytes(&type, &size) ? mw__onnx_alloc(l->w, size, 1) : NULL;
    for (int64_t d = 0; data != NULL && d < l->directions; d++)
        for (size_t i = 0; i < part_count; at += (size_t)parts[i].count * block, i++)
            if (!copy_rows(l, &parts[i], d, block, data + at))
                return NULL;
    const mw__payload payload = {.type = &type, .data = data, .size = size};
    return data != NULL ? mw__onnx_initializer(l->w, free_name(l->w, named), &payload) : NULL;
}

/* ---- what is asked for ---- */

typedef struct activations {
    const char *names[6];
    double alpha[6], beta[6];
    size_t count, numbers; /* of those that have alpha and beta */
} activations;

static void add_activation(const layer *l, const char *argument, activations *out)
{
    static const char *const words[][2] = {{"tanh", "Tanh"},
                                           {"scaled_tanh", "Tanh"}, /* whose scales MIL gives no place */
                                           {"sigmoid", "Sigmoid"},
                                           {"relu", "Relu"},
                                           {"sigmoid_hard", "HardSigmoid"},
                                           {"hard_sigmoid", "HardSigmoid"},
                                           {"linear", "Affine"}};
    const char *word = mw__arg_string(l->op, argument), *name = "Tanh";
    for (size_t i = 0; word != NULL && i < sizeof words / sizeof *words; i++)
        name = strcmp(word, words[i][0]) == 0 ? words[i][1] : name;
    out->names[out->count++] = name;
    const bool hard = strcmp(name, "HardSigmoid") == 0;
    if (!hard && strcmp(name, "Affine") != 0)
        return;
    out->alpha[out->numbers] = hard ? 0.2 : 1;
    out->beta[out->numbers++] = hard ? 0.5 : 0;
}

static void put_activations(const layer *l, pb_node *node)
{
    activations a = {.count = 0};
    for (int64_t d = 0; d < l->directions; d++) {
        if (l->gates > 1)
            add_activation(l, "recurrent_activation", &a);
        if (l->gates == 4)
            add_activation(l, "cell_activation", &a);
        add_activation(l, "activation", &a);
    }
    mw__onnx_put_texts(l->w, node, "activations", a.names, a.count);
    if (a.numbers == 0)
        return;
    mw__onnx_put_floats(l->w, node, "activation_alpha", a.alpha, a.numbers);
    mw__onnx_put_floats(l->w, node, "activation_beta", a.beta, a.numbers);
}

/* ---- states ---- */

/* x in another shape, in which 0 stands for the extent that x has there: S and B need not be known. */
static const char *reshape(const layer *l, const char *out, const char *x, const int64_t *shape, size_t rank)
{
    return mw__onnx_make(l->w, "Reshape", out, x, mw__onnx_longs(l->w, shape, rank));
}

/* [B, D H] as [D, B, H]. */
static const char *state_in(const layer *l, const char *argument)
{
    const int64_t apart[] = {0, l->directions, l->hidden};
    return mw__onnx_swap_axes(l->w, NULL, reshape(l, NULL, arg(l->w, l->op, argument), apart, 3), 3, 0, 1);
}

/* [D, B, H] as [B, D H]. */
static void state_out(const layer *l, size_t index, const char *state)
{
    const int64_t joined[] = {0, l->directions * l->hidden};
    const char *turned = mw__onnx_swap_axes(l->w, NULL, state, 3, 0, 1);
    reshape(l, mw__onnx_result(l->w, l->op, index), turned, joined, 2);
}

/* The last step alone: [D, B, H] as [1, B, D H]. */
static void last_out(const layer *l, const char *state)
{
    const int64_t joined[] = {1, -1, l->directions * l->hidden};
    reshape(l, result(l->w, l->op), mw__onnx_swap_axes(l->w, NULL, state, 3, 0, 1), joined, 3);
}

/* [S, D, B, H] as [S, B, D H]. */
static void sequence_out(const layer *l, const char *y)
{
    const int64_t joined[] = {0, 0, l->directions * l->hidden};
    reshape(l, result(l->w, l->op), mw__onnx_swap_axes(l->w, NULL, y, 4, 1, 2), joined, 3);
}

/* MIL's rnn gives the last step first. */
static const char *turned(const layer *l, const char *y)
{
    const mw__onnx_slices s = {.begin = {INT64_MAX}, .end = {INT64_MIN}, .step = {-1}, .count = 1};
    return l->gates == 1 && strcmp(l->direction, "reverse") == 0 ? mw__onnx_slice_to(l->w, NULL, y, &s) : y;
}

/* Y, Y_h and Y_c as y, h and c; the last step alone is Y_h. */
static void put_results(const layer *l, pb_node *node)
{
    mw__onnx_writer *w = l->w;
    const char *names[] = {mw__onnx_name(node), mw__onnx_fresh(w), mw__onnx_fresh(w)};
    for (size_t i = 1; i < l->op->result_count; i++)
        mw__onnx_put_result(w, node, names[i]);
    if (mw__arg_is_set(l->op, "output_sequence"))
        sequence_out(l, turned(l, names[0]));
    else
        last_out(l, names[1]);
    for (size_t i = 1; i < l->op->result_count; i++)
        state_out(l, i, names[i]);
}

/* ---- operations ---- */

static layer layer_of(mw__onnx_writer *w, const mw__op *op, const int *order, int gates)
{
    layer l = {.w = w, .op = op, .order = order, .gates = gates, .directions = 1};
    l.direction = mw__arg_string(op, "direction");
    l.direction = l.direction != NULL ? l.direction : "forward";
    l.directions = strcmp(l.direction, "bidirectional") == 0 ? 2 : 1;
    l.hidden = mw__arg_shape(op, "weight_hh").dim[1];
    return l;
}

/* The inputs X, W, R, B, none for lengths, the first state, and what else there is. `input_bias` is the argument of
 * what is added to the product with x; or NULL. */
static pb_node *write_layer(const layer *l, const char *operation, const char *input_bias, const char *const *more,
                            size_t more_count)
{
    mw__onnx_writer *w = l->w;
    const rows ih = {{"weight_ih", "weight_ih_back"}, l->order, l->gates};
    const rows hh = {{"weight_hh", "weight_hh_back"}, l->order, l->gates};
    const rows biases[] = {{{input_bias}, l->order, l->gates}, {{"bias", "bias_back"}, l->order, l->gates}};
    const char *in[8] = {arg(w, l->op, "x"),
                         pack_rows(l, &ih, 1, mw__arg_shape(l->op, "weight_ih").dim[1]),
                         pack_rows(l, &hh, 1, l->hidden),
                         pack_rows(l, biases, 2, 0),
                         "",
                         state_in(l, "initial_h")};
    for (size_t i = 0; i < more_count; i++)
        in[6 + i] = more[i];
    pb_node *node = mw__onnx_node_of(w, operation, NULL, in, 6 + more_count);
    mw__onnx_put_int(w, node, "hidden_size", l->hidden);
    mw__onnx_put_text(w, node, "direction", l->direction);
    put_activations(l, node);
    put_results(l, node);
    return node;
}

void mw__onnx_write_lstm(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const layer l = layer_of(w, op, order_lstm, 4);
    const rows peephole = {{"peephole", "peephole_back"}, order_peephole, 3};
    if (mw__arg_present(op, "clip")) {
        mw__onnx_cannot(w, op, "its clip bounds the cell, ONNX's what goes into activations");
        return;
    }
    const char *const more[] = {state_in(&l, "initial_c"), pack_rows(&l, &peephole, 1, 0)};
    write_layer(&l, operation, NULL, more, more[1] != NULL && more[1][0] != '\0' ? 2 : 1);
}

/* Older rows have no input bias, and reset before. */
void mw__onnx_write_gru(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const layer l = layer_of(w, op, order_gru, 3);
    const bool newer = mw__arg_exists(op, "reset_after");
    pb_node *node = write_layer(&l, operation, newer ? "input_bias" : NULL, NULL, 0);
    mw__onnx_put_int(w, node, "linear_before_reset", newer && mw__arg_is_set(op, "reset_after"));
}

void mw__onnx_write_rnn(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const layer l = layer_of(w, op, order_rnn, 1);
    write_layer(&l, operation, NULL, NULL, 0);
}
