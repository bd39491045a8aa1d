/* Connectionist temporal classification: log P(labels) over all ways to spread them over the steps, by the forward
 * recursion of Graves et al. 2006 in logarithms.
 *
 * After each step a way stands in a blank (l of the labels are said) or in label l. Both rows are kept relative to the
 * likeliest of all, whose logarithm is added up apart: so they fit in fp16, and NEVER is far enough below. */
#include "autograd/losses/loss_parts.h"
#include "base/number/float_mode.h"
#include <millwright/loss_embedding.h>

#define NEVER (-3e4)

/* Logarithms of what the ways in each state have in common; `total` is what was taken out of them. */
typedef struct ways {
    mw_tensor *blanks; /* [N, L + 1] */
    mw_tensor *labels; /* [N, L] */
    mw_tensor *total;  /* [N, 1] */
} ways;

typedef struct ctc {
    mw_tensor *log_blank;  /* [N, T, 1] */
    mw_tensor *log_labels; /* [N, T, L] */
    mw_tensor *no_skip;    /* [N, L]: 0, or NEVER where a label repeats the one before; NULL = one label */
    mw_tensor *steps;      /* [N, 1], how many count; NULL = all */
    int64_t label_count;   /* L */
} ctc;

static mw_tensor *like(mw_tensor *x, double value) { return mw__vjp_scalar_like(x, value); }

/* ---- sums of logarithms ---- */

/* log of the sum of e^x over the values, whose largest has no gradient of its own: it cancels. */
static mw_tensor *log_add(mw_tensor *const *x, int count)
{
    mw_tensor *largest = x[0], *sum = NULL;
    for (int i = 1; i < count; i++)
        largest = mw_maximum(largest, x[i]);
    largest = mw_stop_gradient(largest);
    for (int i = 0; i < count; i++) {
        mw_tensor *share = mw_exp(mw_sub(x[i], largest));
        sum = sum != NULL ? mw_add(sum, share) : share;
    }
    return mw_add(largest, mw_log(sum, 0.0f));
}

/* x moved by one to the right. */
static mw_tensor *behind(mw_tensor *x, double first)
{
    return mw_pad(x, (const int64_t[]){1, 0}, 1, MW_PAD_CONSTANT, (float)first);
}

static mw_tensor *first_columns(mw_tensor *x, int64_t count)
{
    const mw_slice slices[2] = {{.from_start = true, .to_end = true}, {.end = count}};
    return mw_slice_by_index(x, slices);
}

/* ---- a step ---- */

/* [N, T, K] -> [N, K] at step t. */
static mw_tensor *at_step(mw_tensor *x, int64_t t)
{
    const mw_slice whole = {.from_start = true, .to_end = true};
    const mw_slice slices[3] = {whole, {.begin = t, .end = t + 1, .squeeze = true}, whole};
    return mw_slice_by_index(x, slices);
}

/* A blank follows itself or the label before it; a label follows itself, the blank before it, or another label. */
static ways advance(const ctc *c, ways from, int64_t t)
{
    mw_tensor *before = behind(from.labels, NEVER); /* [N, L + 1] */
    mw_tensor *skipped = first_columns(before, c->label_count);
    if (c->no_skip != NULL)
        skipped = mw_add(skipped, c->no_skip);
    mw_tensor *const blanks[2] = {from.blanks, before};
    mw_tensor *const labels[3] = {from.labels, first_columns(from.blanks, c->label_count), skipped};
    return (ways){.blanks = mw_add(log_add(blanks, 2), at_step(c->log_blank, t)),
                  .labels = mw_add(log_add(labels, 3), at_step(c->log_labels, t)),
                  .total = from.total};
}

/* Relative to the likeliest way, and nothing below NEVER. */
static ways rescale(ways w)
{
    mw_tensor *best = mw_maximum(mw_reduce_max(w.blanks, MW_AXES(1), true), mw_reduce_max(w.labels, MW_AXES(1), true));
    best = mw_stop_gradient(best);
    mw_tensor *never = like(best, NEVER);
    return (ways){.blanks = mw_maximum(mw_sub(w.blanks, best), never),
                  .labels = mw_maximum(mw_sub(w.labels, best), never),
                  .total = w.total != NULL ? mw_add(w.total, best) : best};
}

static ways choose(mw_tensor *cond, ways a, ways b)
{
    return (ways){.blanks = mw_select(cond, a.blanks, b.blanks),
                  .labels = mw_select(cond, a.labels, b.labels),
                  .total = mw_select(cond, a.total, b.total)};
}

/* ---- the recursion ---- */

/* Before the first step every way stands in the first blank: rows of one example, which broadcast. */
static ways start(mw_graph *graph, mw_dtype dtype, int64_t labels)
{
    mw_tensor *numbers = mw_range_1d(graph, MW_I32, 0.0, (double)labels + 1.0, 1.0);
    mw_tensor *first = mw_equal(mw_expand_dims(numbers, MW_AXES(0)), mw_scalar(graph, MW_I32, 0.0));
    mw_tensor *blanks = mw_select(first, mw_scalar(graph, dtype, 0.0), mw_scalar(graph, dtype, NEVER));
    return (ways){.blanks = blanks, .labels = mw_fill(graph, dtype, MW_SHAPE(1, labels), NEVER)};
}

/* A step that does not count leaves the ways as they were; where none counts they are those of the start. */
static ways run_steps(const ctc *c, int64_t steps)
{
    mw_graph *graph = mw_tensor_graph(c->log_blank);
    const mw_dtype dtype = mw_tensor_dtype(c->log_blank);
    ways w = start(graph, dtype, c->label_count);
    for (int64_t t = 0; t < steps; t++) {
        ways next = rescale(advance(c, w, t));
        if (c->steps != NULL && t == 0)
            w.total = mw_scalar(graph, dtype, 0.0);
        if (c->steps != NULL)
            next = choose(mw_greater(c->steps, mw_scalar(graph, MW_I32, (double)t)), next, w);
        w = next;
    }
    return w;
}

/* [N]: log P, where all `lengths` [N, 1] labels are said; an end at NEVER / 2 or less means no way. */
static mw_tensor *finish(const ctc *c, ways w, mw_tensor *lengths, mw_tensor **out_possible)
{
    mw_tensor *ends[2] = {w.blanks, behind(w.labels, NEVER)};
    mw_tensor *numbers = mw_range_1d(mw_tensor_graph(w.blanks), MW_I32, 0.0, (double)c->label_count + 1.0, 1.0);
    mw_tensor *said = mw_equal(numbers, lengths);
    for (int i = 0; i < 2; i++)
        ends[i] = mw_reduce_sum(mw__where(said, ends[i]), MW_AXES(1), true);
    mw_tensor *end = log_add(ends, 2);
    *out_possible = mw_squeeze(mw_greater(end, like(end, NEVER / 2)), MW_AXES(1));
    return mw_squeeze(mw_add(end, w.total), MW_AXES(1));
}

/* ---- operands ---- */

static mw_tensor *no_skips(mw_tensor *labels, mw_tensor *x, int64_t count)
{
    const mw_slice whole = {.from_start = true, .to_end = true};
    const mw_slice later[2] = {whole, {.begin = 1, .to_end = true}};
    mw_tensor *same = mw_equal(mw_slice_by_index(labels, later), first_columns(labels, count - 1));
    return behind(mw__where(same, like(x, NEVER)), 0.0);
}

/* The logarithms of the labels by a product with a mask: a sum with one term that is not 0. */
static ctc prepare(mw_tensor *x, mw_tensor *labels, mw_tensor *steps, int64_t blank)
{
    const int64_t classes = mw_tensor_shape(x).dim[2], count = mw_tensor_shape(labels).dim[1];
    mw_tensor *numbers = mw_range_1d(mw_tensor_graph(x), MW_I32, 0.0, (double)classes, 1.0);
    mw_tensor *hot = mw_equal(mw_expand_dims(labels, MW_AXES(2)), numbers);
    const mw_slice whole = {.from_start = true, .to_end = true};
    const mw_slice of_blank[3] = {whole, whole, {.begin = blank, .end = blank + 1}};
    return (ctc){.log_blank = mw_slice_by_index(x, of_blank),
                 .log_labels = mw_matmul(x, mw__where(hot, like(x, 1.0)), MW_TRANSPOSE_Y),
                 .no_skip = count > 1 ? no_skips(labels, x, count) : NULL,
                 .steps = steps != NULL ? mw_expand_dims(steps, MW_AXES(1)) : NULL,
                 .label_count = count};
}

static bool refuse_shape(mw_tensor *x, const char *what, const mw_tensor *has, const char *rule)
{
    char a[64], b[64];
    mw__graph_fail(mw_tensor_graph(x), MW_ERROR_SHAPE, "ctc: %s is %s %s for log_probabilities %s; it must be %s", what,
                   mw_dtype_name(mw_tensor_dtype(has)), mw__shape_print(mw_tensor_shape(has), a, sizeof a),
                   mw__shape_print(mw_tensor_shape(x), b, sizeof b), rule);
    return false;
}

static bool check_lengths(mw_tensor *x, const char *what, mw_tensor *lengths)
{
    if (lengths == NULL)
        return true;
    const mw_shape shape = mw_tensor_shape(lengths);
    if (shape.rank == 1 && shape.dim[0] == mw_tensor_shape(x).dim[0] && mw_tensor_dtype(lengths) == MW_I32)
        return true;
    return refuse_shape(x, what, lengths, "int32 [N]");
}

static bool check_operands(mw_tensor *x, mw_tensor *labels, int64_t blank)
{
    const mw_shape shape = mw_tensor_shape(x), has = mw_tensor_shape(labels);
    if (!mw__is_float_tensor(x) || shape.rank != 3 || mw_shape_count(shape) == 0)
        return refuse_shape(x, "x", x, "fp16 or fp32 [N, T, C] with elements");
    if (mw_tensor_dtype(labels) != MW_I32 || has.rank != 2 || has.dim[0] != shape.dim[0] || has.dim[1] < 1)
        return refuse_shape(x, "labels", labels, "int32 [N, L], L 1 or more");
    if (blank >= 0 && blank < shape.dim[2])
        return true;
    mw__graph_fail(mw_tensor_graph(x), MW_ERROR_ARGUMENT, "ctc: blank %lld must be a class, in [0, %lld)",
                   (long long)blank, (long long)shape.dim[2]);
    return false;
}

/* Lengths that are fed are checked there: 0 to the most that fits. */
static mw_tensor *label_lengths_of(mw_tensor *labels, mw_tensor *lengths, int64_t most)
{
    if (lengths == NULL)
        return mw_scalar(mw_tensor_graph(labels), MW_I32, (double)most);
    mw__limit_indices(lengths, most + 1, NULL);
    return mw_expand_dims(lengths, MW_AXES(1));
}

/* [N]: -log P for each label. An example without a way counts 0. */
static mw_tensor *costs(const ctc *c, int64_t steps, mw_tensor *lengths)
{
    mw_tensor *possible = NULL, *log_p = finish(c, run_steps(c, steps), lengths, &possible);
    mw_tensor *one = mw_scalar(mw_tensor_graph(lengths), MW_I32, 1.0);
    mw_tensor *divisor = mw_cast(mw_maximum(lengths, one), mw_tensor_dtype(c->log_blank));
    if (mw_tensor_shape(divisor).rank > 0)
        divisor = mw_squeeze(divisor, MW_AXES(1));
    return mw_real_div(mw_neg(mw__where(possible, log_p)), divisor);
}

mw_tensor *mw_ctc(mw_tensor *log_probabilities, mw_tensor *labels, mw_tensor *input_lengths, mw_tensor *label_lengths,
                  int64_t blank)
{
    MW__FLOAT_SCOPE;
    mw_tensor *x = log_probabilities;
    if (x == NULL || labels == NULL || mw_graph_check(mw_tensor_graph(x), NULL) != MW_OK ||
        !check_operands(x, labels, blank) || !check_lengths(x, "input_lengths", input_lengths) ||
        !check_lengths(x, "label_lengths", label_lengths))
        return mw__loss_of_failed_graph(x, labels);
    const int64_t steps = mw_tensor_shape(x).dim[1];
    mw__limit_indices(labels, mw_tensor_shape(x).dim[2], NULL);
    if (input_lengths != NULL)
        mw__limit_indices(input_lengths, steps + 1, NULL);
    const ctc c = prepare(x, labels, input_lengths, blank);
    mw_tensor *lengths = label_lengths_of(labels, label_lengths, c.label_count);
    return mw__loss_mean(&(const mw__composite){.name = "ctc"}, costs(&c, steps, lengths), x, labels);
}
