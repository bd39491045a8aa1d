/* Recurrent networks: shape rules, expansions and constructors of ops/recurrent.def. Their form over time is in
 * patterns/recurrent.c. */
#include <millwright/ops/recurrent.h>

#include <millwright/ops/shape.h>

#include "base/number/float_mode.h"
#include "graph/ir/rule.h"
#include "graph/patterns/recurrent.h"

#include <inttypes.h>
#include <math.h>

enum { RESULTS = 3 };

/* ---- shape rules ---- */

typedef struct extents {
    int64_t steps, batch, inputs, hidden, gates, halves;
} extents;

/* An argument of this shape, if it is there. */
static mw_status check_shape(const mw__infer *infer, const char *arg, mw_shape wanted, const char *letters)
{
    if (!mw__arg_present(infer->op, arg))
        return MW_OK;
    const mw_shape shape = mw__rule_shape(infer, arg);
    bool fits = shape.rank == wanted.rank;
    for (int i = 0; fits && i < shape.rank; i++)
        fits = mw__dim_fits(shape.dim[i], wanted.dim[i]);
    char own[240], text[200];
    return fits ? MW_OK
                : mw__rule_fail(infer, MW_ERROR_SHAPE, "%s is not %s = %s",
                                mw__arg_print(infer->op, arg, own, sizeof own), letters,
                                mw__shape_print(wanted, text, sizeof text));
}

static int64_t times_extent(int64_t factor, int64_t extent) { return extent >= 0 ? factor * extent : extent; }

static mw_status read_extents(const mw__infer *infer, int64_t gates, int64_t halves, extents *out)
{
    char text[240];
    const mw_shape x = mw__rule_shape(infer, "x"), weight = mw__rule_shape(infer, "weight_hh");
    if (x.rank != 3)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s must be [steps, batch, inputs]",
                             mw__arg_print(infer->op, "x", text, sizeof text));
    if (x.dim[0] == 0)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s has no steps",
                             mw__arg_print(infer->op, "x", text, sizeof text));
    if (weight.rank != 2)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s must be [%" PRId64 " * hidden, hidden]",
                             mw__arg_print(infer->op, "weight_hh", text, sizeof text), gates);
    *out = (extents){.steps = x.dim[0],
                     .batch = x.dim[1],
                     .inputs = x.dim[2],
                     .hidden = weight.dim[1],
                     .gates = gates,
                     .halves = halves};
    if (out->hidden > INT32_MAX) /* products of a few of them are taken */
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%" PRId64 " hidden elements; at most %d are allowed", out->hidden,
                             INT32_MAX);
    return MW_OK;
}

/* The weights, bias and peephole of one direction; that NULL = looked at elsewhere. */
static mw_status check_half(const mw__infer *infer, const extents *e, const char *const names[4])
{
    const int64_t rows = times_extent(e->gates, e->hidden);
    MW_TRY(check_shape(infer, names[0], MW_SHAPE(rows, e->inputs), "[gates * hidden, inputs]"));
    MW_TRY(check_shape(infer, names[1], MW_SHAPE(rows, e->hidden), "[gates * hidden, hidden]"));
    MW_TRY(check_shape(infer, names[2], MW_SHAPE(rows), "[gates * hidden]"));
    if (names[3] != NULL)
        MW_TRY(check_shape(infer, names[3], MW_SHAPE(times_extent(3, e->hidden)), "[3 * hidden]"));
    return MW_OK;
}

static mw_status check_word(const mw__infer *infer, const char *arg)
{
    const char *word = mw__arg_string(infer->op, arg);
    if (mw__activation_find(word) != 0)
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_ARGUMENT,
                         "%s is \"%s\", none of tanh, sigmoid, hard_sigmoid, relu, linear and scaled_tanh", arg,
                         word != NULL ? word : "");
}

static mw_status read_direction(const mw__infer *infer, bool both, int64_t *out_halves)
{
    const char *word = mw__arg_string(infer->op, "direction");
    const mw_direction direction = mw__direction_find(word);
    if (direction == 0 || (direction == MW_BIDIRECTIONAL && !both))
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "direction is \"%s\", none of forward%s reverse%s",
                             word != NULL ? word : "", both ? "," : " and", both ? " and bidirectional" : "");
    *out_halves = direction == MW_BIDIRECTIONAL ? 2 : 1;
    return MW_OK;
}

/* coremltools' defs of ios15 and ios17 */
static mw_status check_dtype(const mw__infer *infer)
{
    if (mw__rule_dtype(infer, "x") != MW_F16 || infer->op->block->function->opset >= MW_IOS17)
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_DTYPE, "x is fp16, which needs ios17; cast it to fp32");
}

static mw_status check_common(const mw__infer *infer, int64_t gates, bool both, extents *out)
{
    static const char *const forward[] = {"weight_ih", "weight_hh", "bias", NULL};
    int64_t halves = 1;
    MW_TRY(check_dtype(infer));
    MW_TRY(read_direction(infer, both, &halves));
    MW_TRY(read_extents(infer, gates, halves, out));
    MW_TRY(check_half(infer, out, forward));
    MW_TRY(check_word(infer, "activation"));
    return check_shape(infer, "initial_h", MW_SHAPE(out->batch, times_extent(halves, out->hidden)),
                       "[batch, directions * hidden]");
}

/* y, h, and c if there are three. */
static mw_status give_results(mw__infer *infer, const extents *e, size_t count)
{
    bool sequence;
    MW_TRY(mw__rule_bool(infer, "output_sequence", &sequence));
    MW_TRY(mw__rule_results(infer, count));
    for (size_t i = 0; i < count; i++) {
        infer->dtype[i] = mw__rule_dtype(infer, "x");
        infer->shape[i] = MW_SHAPE(e->batch, times_extent(e->halves, e->hidden));
    }
    infer->shape[0] = MW_SHAPE(sequence ? e->steps : 1, e->batch, times_extent(e->halves, e->hidden));
    return MW_OK;
}

static mw_status check_clip(const mw__infer *infer)
{
    double clip;
    if (!mw__arg_present(infer->op, "clip"))
        return MW_OK;
    if (!mw__arg_float(infer->op, "clip", &clip))
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "clip must be one constant number");
    return clip >= 0.0 ? MW_OK : mw__rule_fail(infer, MW_ERROR_ARGUMENT, "clip %g must be 0 or more", clip);
}

static mw_status check_back(const mw__infer *infer, const extents *e)
{
    static const char *const names[] = {"weight_ih_back", "weight_hh_back", "bias_back", "peephole_back"};
    for (size_t i = 0; i < 2 && e->halves == 2; i++)
        if (!mw__arg_present(infer->op, names[i]))
            return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "bidirectional wants %s", names[i]);
    return e->halves == 2 ? check_half(infer, e, names) : MW_OK;
}

mw_status mw__shape_lstm(mw__infer *infer)
{
    extents e;
    MW_TRY(check_common(infer, 4, true, &e));
    MW_TRY(check_word(infer, "recurrent_activation"));
    MW_TRY(check_word(infer, "cell_activation"));
    MW_TRY(check_clip(infer));
    MW_TRY(check_back(infer, &e));
    MW_TRY(check_shape(infer, "peephole", MW_SHAPE(times_extent(3, e.hidden)), "[3 * hidden]"));
    MW_TRY(check_shape(infer, "initial_c", MW_SHAPE(e.batch, times_extent(e.halves, e.hidden)),
                       "[batch, directions * hidden]"));
    return give_results(infer, &e, 3);
}

mw_status mw__shape_gru(mw__infer *infer)
{
    extents e;
    bool flag;
    MW_TRY(check_common(infer, 3, false, &e));
    MW_TRY(check_word(infer, "recurrent_activation"));
    if (infer->op->row->since >= MW_IOS18) {
        MW_TRY(mw__rule_bool(infer, "reset_after", &flag));
        MW_TRY(check_shape(infer, "input_bias", MW_SHAPE(times_extent(3, e.hidden)), "[3 * hidden]"));
    }
    return give_results(infer, &e, 2);
}

mw_status mw__shape_rnn(mw__infer *infer)
{
    extents e;
    MW_TRY(check_common(infer, 1, false, &e));
    return give_results(infer, &e, 2);
}

/* ---- expansions ---- */

/* The steps for the arguments in the slots; nothing is appended for the operation itself. */
static mw_tensor *expand_steps(mw__build *build, mw_tensor **out_more)
{
    mw__recurrent r;
    mw_tensor *results[RESULTS];
    if (!build->failed)
        mw__build_defaults(build);
    if (build->failed)
        return NULL;
    mw__infer infer = {.err = &build->graph->error, .expands = true, .room = RESULTS};
    if (mw__op_infer(build->op, &infer) != MW_OK)
        return NULL;
    const mw_shape y = infer.shape[0];
    if (mw_tensor_shape(mw__arg(build->op, "x")).dim[0] < 0 || y.dim[2] < 0 || !mw__recurrent_read(build->op, &r)) {
        mw__rule_fail(&infer, MW_ERROR_UNSUPPORTED,
                      "with a weight that is computed, the number of steps and the hidden elements must be known");
        return NULL;
    }
    r.names_parts = true;
    mw__recurrent_write(&r, results);
    out_more[0] = results[1];
    out_more[1] = results[2];
    return results[0];
}

static mw_tensor *expand_arguments(const char *operation, mw_graph *graph, const mw_argument *arguments, size_t count,
                                   mw_tensor **out_more)
{
    mw__build build = mw__build_begin_graph(operation, graph);
    for (size_t i = 0; i < count; i++)
        mw__build_set_many(&build, arguments[i].name, arguments[i].values, arguments[i].count);
    return expand_steps(&build, out_more);
}

mw_tensor *mw__expand_lstm(mw_graph *graph, const mw_argument *arguments, size_t count, mw_tensor **out_more)
{
    return expand_arguments("lstm", graph, arguments, count, out_more);
}

mw_tensor *mw__expand_gru(mw_graph *graph, const mw_argument *arguments, size_t count, mw_tensor **out_more)
{
    return expand_arguments("gru", graph, arguments, count, out_more);
}

mw_tensor *mw__expand_rnn(mw_graph *graph, const mw_argument *arguments, size_t count, mw_tensor **out_more)
{
    return expand_arguments("rnn", graph, arguments, count, out_more);
}

/* ---- constructors ---- */

mw_recurrent_options mw_recurrent_defaults(void)
{
    return (mw_recurrent_options){.struct_size = sizeof(mw_recurrent_options),
                                  .direction = MW_FORWARD,
                                  .recurrent_activation = MW_ACTIVATION_SIGMOID,
                                  .cell_activation = MW_ACTIVATION_TANH,
                                  .activation = MW_ACTIVATION_TANH};
}

/* What an operation was given, and what it has not. */
typedef struct request {
    const char *operation;
    mw__cell cell;
    mw_tensor *x, *h, *c;
    const mw_recurrent_weights *weights;
    mw_recurrent_options options;
} request;

static bool refuse_request(const request *q, const char *what)
{
    mw__graph_fail(q->x->graph, MW_ERROR_ARGUMENT, "%s: %s", q->operation, what);
    return false;
}

static bool check_options(const request *q)
{
    const mw_recurrent_options *o = &q->options;
    if (o->struct_size != sizeof *o)
        return refuse_request(q, "the options were not made by mw_recurrent_defaults");
    if (mw__direction_name(o->direction) == NULL)
        return refuse_request(q, "direction is none of mw_direction");
    if (mw__activation_name(o->activation) == NULL || mw__activation_name(o->recurrent_activation) == NULL ||
        mw__activation_name(o->cell_activation) == NULL)
        return refuse_request(q, "an activation is none of mw_activation");
    if (q->cell != MW__CELL_LSTM && o->direction == MW_BIDIRECTIONAL)
        return refuse_request(q, "has no bidirectional form; join a forward and a reverse one");
    if (o->direction == MW_BIDIRECTIONAL && q->cell == MW__CELL_LSTM &&
        (o->back.weight_ih == NULL || o->back.weight_hh == NULL))
        return refuse_request(q, "the weights of the reverse direction (back) are NULL");
    if (q->cell != MW__CELL_LSTM && (o->clip != 0.0 || q->weights->peephole != NULL))
        return refuse_request(q, "clip and peephole are of lstm alone");
    if (q->cell != MW__CELL_GRU && (o->reset_after || q->weights->input_bias != NULL))
        return refuse_request(q, "reset_after and input_bias are of gru alone");
    return true;
}

static mw_tensor *zeros(const request *q)
{
    const mw_shape x = mw_tensor_shape(q->x), weight = mw_tensor_shape(q->weights->weight_hh);
    const int64_t halves = q->options.direction == MW_BIDIRECTIONAL ? 2 : 1;
    char text[200];
    if (x.rank != 3 || weight.rank != 2 || x.dim[1] < 0 || weight.dim[1] < 0)
        return mw__graph_fail(q->x->graph, MW_ERROR_SHAPE,
                              "%s: states of zeros want x [steps, batch, inputs] with a batch that is known, not %s",
                              q->operation, mw__shape_print(x, text, sizeof text));
    return mw_fill(q->x->graph, mw_tensor_dtype(q->x), MW_SHAPE(x.dim[1], halves * weight.dim[1]), 0.0);
}

static void set_lstm(mw__build *build, const request *q)
{
    const mw_recurrent_options *o = &q->options;
    mw__build_set(build, "initial_c", q->c != NULL ? q->c : zeros(q));
    mw__build_set_given(build, "peephole", q->weights->peephole);
    mw__build_string(build, "cell_activation", mw__activation_name(o->cell_activation));
    if (o->clip != 0.0)
        mw__build_float(build, "clip", o->clip);
    if (o->direction != MW_BIDIRECTIONAL)
        return;
    mw__build_set(build, "weight_ih_back", o->back.weight_ih);
    mw__build_set(build, "weight_hh_back", o->back.weight_hh);
    mw__build_set_given(build, "bias_back", o->back.bias);
    mw__build_set_given(build, "peephole_back", o->back.peephole);
}

static void set_gru(mw__build *build, const request *q)
{
    if (build->failed || (!q->options.reset_after && q->weights->input_bias == NULL))
        return;
    if (build->row->since < MW_IOS18) {
        build->failed = !refuse_request(q, "reset_after and input_bias need opset ios18");
        return;
    }
    mw__build_set_given(build, "input_bias", q->weights->input_bias);
    mw__build_bool(build, "reset_after", q->options.reset_after);
}

static void set_arguments(mw__build *build, const request *q)
{
    mw__build_set(build, "x", q->x);
    mw__build_set(build, "initial_h", q->h != NULL ? q->h : zeros(q));
    mw__build_set(build, "weight_ih", q->weights->weight_ih);
    mw__build_set(build, "weight_hh", q->weights->weight_hh);
    mw__build_set_given(build, "bias", q->weights->bias);
    mw__build_string(build, "direction", mw__direction_name(q->options.direction));
    mw__build_bool(build, "output_sequence", !q->options.last_only);
    mw__build_string(build, "activation", mw__activation_name(q->options.activation));
    if (q->cell != MW__CELL_RNN)
        mw__build_string(build, "recurrent_activation", mw__activation_name(q->options.recurrent_activation));
    if (q->cell == MW__CELL_LSTM)
        set_lstm(build, q);
    else if (q->cell == MW__CELL_GRU)
        set_gru(build, q);
}

static mw_recurrent make_recurrent(const request *q)
{
    mw_tensor *results[RESULTS] = {NULL, NULL, NULL};
    mw__build build = mw__build_begin(q->operation, q->x);
    if (build.failed || !check_options(q))
        return (mw_recurrent){NULL, NULL, NULL};
    set_arguments(&build, q);
    if (!build.failed && mw__build_wants_expansion(&build))
        results[0] = expand_steps(&build, results + 1);
    else
        mw__build_end_many(&build, results, RESULTS, NULL);
    return (mw_recurrent){results[0], results[1], results[2]};
}

static mw_recurrent_options given(const mw_recurrent_options *options)
{
    return options != NULL ? *options : mw_recurrent_defaults();
}

#define NOTHING(x, weights)                                                                                            \
    ((x) == NULL || (weights) == NULL || (weights)->weight_ih == NULL || (weights)->weight_hh == NULL)

mw_recurrent mw_lstm(mw_tensor *x, mw_tensor *h, mw_tensor *c, const mw_recurrent_weights *weights,
                     const mw_recurrent_options *options)
{
    MW__FLOAT_SCOPE;
    if (NOTHING(x, weights))
        return (mw_recurrent){NULL, NULL, NULL};
    return make_recurrent(&(request){"lstm", MW__CELL_LSTM, x, h, c, weights, given(options)});
}

mw_recurrent mw_gru(mw_tensor *x, mw_tensor *h, const mw_recurrent_weights *weights,
                    const mw_recurrent_options *options)
{
    MW__FLOAT_SCOPE;
    if (NOTHING(x, weights))
        return (mw_recurrent){NULL, NULL, NULL};
    return make_recurrent(&(request){"gru", MW__CELL_GRU, x, h, NULL, weights, given(options)});
}

mw_recurrent mw_rnn(mw_tensor *x, mw_tensor *h, const mw_recurrent_weights *weights,
                    const mw_recurrent_options *options)
{
    MW__FLOAT_SCOPE;
    if (NOTHING(x, weights))
        return (mw_recurrent){NULL, NULL, NULL};
    return make_recurrent(&(request){"rnn", MW__CELL_RNN, x, h, NULL, weights, given(options)});
}
