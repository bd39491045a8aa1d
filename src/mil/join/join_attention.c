/* Attention from parts: softmax(scale query key^T + mask) value. The one operation scales by 1 / sqrt(E) itself; where
 * the model has another scale, the query is multiplied by what is missing. */
#include "graph/patterns/attention.h"
#include "mil/join/join_parts.h"
#include "mil/legalize/rewrites.h"

#include <math.h>
#include <millwright/millwright.h>

typedef struct attention {
    const mw_tensor *query, *key, *value, *mask; /* mask: or NULL */
    bool turned;                                 /* the key is [.., E, S] */
    double scale;
} attention;

/* What is multiplied, with the number on the way in *scale. */
static const mw_tensor *unscaled(const mw_tensor *value, double *scale)
{
    double number;
    const mw__op *op = mw__join_maker(value);
    if (op == NULL || !(mw__op_is(op, "mul") || mw__op_is(op, "real_div")))
        return value;
    const mw_tensor *x = mw__op_operand(op, "x"), *y = mw__op_operand(op, "y");
    const bool divides = mw__op_is(op, "real_div");
    const bool second = mw__join_number(y, &number);
    if (!second && (divides || !mw__join_number(x, &number)))
        return value;
    const mw_tensor *of = second ? x : y;
    if (of->payload != NULL || !mw__join_same_shape(of, value) || !(number > 0) || !isfinite(number))
        return value;
    *scale = divides ? *scale / number : *scale * number;
    return of;
}

/* x where the last two axes of x change places, else NULL. */
static const mw_tensor *unturned(const mw_tensor *value)
{
    int64_t perm[MW_RANK_MAX];
    size_t count = 0;
    const mw__op *op = mw__join_made_by(value, "transpose");
    if (op == NULL || !mw__arg_ints(op, "perm", perm, MW_RANK_MAX, &count) || count < 2)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const int64_t wanted = (int64_t)(i + 2 < count ? i : i + 2 == count ? count - 1 : count - 2);
        if ((perm[i] < 0 ? perm[i] + (int64_t)count : perm[i]) != wanted)
            return NULL;
    }
    return mw__op_operand(op, "x");
}

static bool read_scores(const mw__op *product, attention *a)
{
    bool turns_x = false, turns_y = false;
    if (product == NULL)
        return false;
    mw__arg_bool(product, "transpose_x", &turns_x);
    mw__arg_bool(product, "transpose_y", &turns_y);
    a->query = unscaled(mw__op_operand(product, "x"), &a->scale);
    a->key = unscaled(mw__op_operand(product, "y"), &a->scale);
    a->turned = !turns_y;
    const mw_tensor *plain = a->turned ? unturned(a->key) : NULL;
    if (plain != NULL)
        a->key = unscaled(plain, &a->scale), a->turned = false;
    return !turns_x && a->query != NULL && a->key != NULL && a->query->payload == NULL && a->key->payload == NULL;
}

/* With a mask that is added, of the scores' own shape or one that broadcasts to it. */
static bool read_masked(const mw_tensor *scores, attention *a)
{
    const mw__op *sum = mw__join_made_by(scores, "add");
    for (int i = 0; sum != NULL && i < 2; i++) {
        const mw_tensor *of = mw__op_operand(sum, i == 0 ? "x" : "y");
        attention found = {.value = a->value, .mask = mw__join_other(sum, of), .scale = 1.0};
        if (found.mask != NULL && mw__join_same_shape(of, scores) &&
            read_scores(mw__join_made_by(unscaled(of, &found.scale), "matmul"), &found)) {
            *a = found;
            return true;
        }
    }
    a->scale = 1.0;
    return read_scores(mw__join_made_by(unscaled(scores, &a->scale), "matmul"), a);
}

static bool has_attention_shapes(const attention *a, const mw__op *op)
{
    const mw_shape q = mw_tensor_shape(a->query), k = mw_tensor_shape(a->key), v = mw_tensor_shape(a->value);
    const int rank = q.rank;
    if (rank < 3 || rank > 4 || k.rank != rank || v.rank != rank || mw_shape_count(q) <= 0 || mw_shape_count(k) <= 0)
        return false;
    for (int i = 0; i < rank - 2; i++)
        if (q.dim[i] != k.dim[i] || q.dim[i] != v.dim[i])
            return false;
    return a->mask == NULL || (mw_tensor_dtype(a->mask) == MW_F32 && mw_tensor_shape(a->mask).rank <= rank &&
                               op->block->function->opset >= MW_IOS18);
}

static bool find_attention(const mw__rewriting *pass, const mw__op *op, attention *a)
{
    bool turns_x = false, turns_y = false;
    int64_t axis = 0;
    const mw__op *weights = mw__join_made_by(mw__op_operand(op, "x"), "softmax");
    *a = (attention){.value = mw__op_operand(op, "y"), .scale = 1.0};
    mw__arg_bool(op, "transpose_x", &turns_x);
    mw__arg_bool(op, "transpose_y", &turns_y);
    if (op->block->function->opset < MW_IOS18 || weights == NULL || turns_x || turns_y || a->value == NULL ||
        a->value->payload != NULL || !mw__arg_int(weights, "axis", &axis))
        return false;
    const mw_tensor *scores = mw__op_operand(weights, "x");
    if (scores == NULL || (axis != -1 && axis != mw_tensor_shape(scores).rank - 1) || !read_masked(scores, a) ||
        !has_attention_shapes(a, op))
        return false;
    const mw_tensor *leaves[] = {a->query, a->key, a->value, a->mask};
    return mw__join_collect(pass->joining, op, leaves, a->mask != NULL ? 4 : 3);
}

bool mw__join_is_attention(const mw__rewriting *pass, const mw__op *op)
{
    attention a;
    return find_attention(pass, op, &a);
}

static mw_tensor *turn(mw_tensor *x)
{
    const int rank = x != NULL ? mw_tensor_shape(x).rank : 2;
    mw_axes perm = {.count = rank};
    for (int i = 0; i < rank; i++)
        perm.axis[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    return x != NULL ? mw_transpose(x, perm) : NULL;
}

mw_tensor *mw__join_attention(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    attention a;
    find_attention(pass, op, &a);
    mw_tensor *query = mw__clone_get(clone, a.query), *key = mw__clone_get(clone, a.key);
    if (query == NULL || key == NULL)
        return NULL;
    const double missing = a.scale / mw__attention_scale(query);
    if (fabs(missing - 1.0) > 1e-6)
        query = mw_mul_scalar(query, missing);
    mw_tensor *mask = a.mask != NULL ? mw__clone_operand(clone, a.mask, MW_F32) : NULL;
    return mw_scaled_dot_product_attention(query, a.turned ? turn(key) : key, mw__clone_get(clone, a.value), mask);
}
