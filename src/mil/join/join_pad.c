/* Paddings and transposes into what reads them. */
#include "mil/join/join_parts.h"
#include "mil/legalize/rewrites.h"

#include <millwright/millwright.h>
#include <string.h>

/* ---- paddings ---- */

enum { BORDER_MOST = 2 * MW_RANK_MAX };

/* The zeros that `pad` puts around the axes behind the first two of x, [before, after] of each. */
static bool read_zeros(const mw__op *pad, int64_t out[BORDER_MOST])
{
    size_t count = 0;
    double number = 0.0;
    const char *mode = mw__arg_string(pad, "mode");
    const int rank = mw_tensor_shape(pad->results[0]).rank;
    int64_t given[BORDER_MOST];
    mw__arg_float(pad, "constant_val", &number);
    if (mode == NULL || strcmp(mode, "constant") != 0 || number != 0.0 || rank < 3 ||
        !mw__arg_ints(pad, "pad", given, BORDER_MOST, &count) || count % 2 != 0 || (int)count / 2 > rank)
        return false;
    memset(out, 0, BORDER_MOST * sizeof *out);
    const int first = rank - (int)count / 2;
    for (int i = 0; i < (int)count; i++) {
        const int axis = first + i / 2;
        if (given[i] < 0 || (axis < 2 && given[i] != 0))
            return false;
        if (axis >= 2)
            out[2 * (axis - 2) + i % 2] = given[i];
    }
    return true;
}

/* The same that the convolution has itself are added. */
static bool add_border(const mw__op *conv, int axes, int64_t border[BORDER_MOST])
{
    int64_t own[BORDER_MOST];
    size_t count = 0;
    const char *type = mw__arg_string(conv, "pad_type");
    if (type == NULL || strcmp(type, "valid") == 0)
        return true;
    if (strcmp(type, "custom") != 0 || !mw__arg_ints(conv, "pad", own, BORDER_MOST, &count) || (int)count != 2 * axes)
        return false;
    for (size_t i = 0; i < count; i++)
        border[i] += own[i];
    return true;
}

static bool find_padding(const mw__rewriting *pass, const mw__op *op, const mw_tensor **out_x,
                         int64_t border[BORDER_MOST])
{
    const mw__op *pad = mw__join_made_by(mw__op_operand(op, "x"), "pad");
    *out_x = pad != NULL ? mw__op_operand(pad, "x") : NULL;
    const mw_tensor *leaves[] = {*out_x, mw__op_operand(op, "weight"), mw__op_operand(op, "bias")};
    return *out_x != NULL && (*out_x)->payload == NULL && read_zeros(pad, border) &&
           add_border(op, mw_tensor_shape(*out_x).rank - 2, border) &&
           mw__join_collect(pass->joining, op, leaves, leaves[2] != NULL ? 3 : 2);
}

bool mw__join_is_padded(const mw__rewriting *pass, const mw__op *op)
{
    const mw_tensor *x;
    int64_t border[BORDER_MOST];
    return find_padding(pass, op, &x, border);
}

mw_tensor *mw__join_padding(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    const mw_tensor *x = NULL;
    int64_t border[BORDER_MOST];
    int32_t pad[BORDER_MOST];
    find_padding(pass, op, &x, border);
    const int count = 2 * (mw_tensor_shape(x).rank - 2);
    for (int i = 0; i < count; i++)
        pad[i] = (int32_t)border[i];
    const mw__join_argument arguments[] = {
        {.name = "x", .value = mw__clone_get(clone, x)},
        {.name = "pad", .value = mw_constant(clone->to, MW_I32, MW_SHAPE(count), pad)},
        {.name = "pad_type", .text = "custom"},
    };
    return mw__join_copy(clone, op, arguments, 3);
}

/* ---- transposes ---- */

static bool read_perm(const mw__op *op, int64_t perm[MW_RANK_MAX], int *out_rank)
{
    size_t count = 0;
    if (op == NULL || !mw__arg_ints(op, "perm", perm, MW_RANK_MAX, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        perm[i] += perm[i] < 0 ? (int64_t)count : 0;
    *out_rank = (int)count;
    return count > 0;
}

static bool find_turned_twice(const mw__rewriting *pass, const mw__op *op, const mw_tensor **out_x, mw_axes *out)
{
    int64_t late[MW_RANK_MAX], early[MW_RANK_MAX];
    int rank, other;
    const mw__op *first = mw__join_made_by(mw__op_operand(op, "x"), "transpose");
    if (!read_perm(op, late, &rank) || !read_perm(first, early, &other) || rank != other)
        return false;
    *out_x = mw__op_operand(first, "x");
    out->count = rank;
    for (int i = 0; i < rank; i++)
        out->axis[i] = (int)early[late[i]];
    return (*out_x)->payload == NULL && mw__join_collect(pass->joining, op, out_x, 1);
}

bool mw__join_is_turned_twice(const mw__rewriting *pass, const mw__op *op)
{
    const mw_tensor *x;
    mw_axes perm;
    return find_turned_twice(pass, op, &x, &perm);
}

mw_tensor *mw__join_turns(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    const mw_tensor *x = NULL;
    mw_axes perm = {0};
    find_turned_twice(pass, op, &x, &perm);
    bool moves = false;
    for (int i = 0; i < perm.count; i++)
        moves = moves || perm.axis[i] != i;
    return moves ? mw_transpose(mw__clone_get(clone, x), perm) : mw__clone_get(clone, x);
}

/* An operand of a product whose last two axes change places: *out_x is what it is made of. */
static bool is_turned(const mw_tensor *operand, const mw_tensor **out_x)
{
    int64_t perm[MW_RANK_MAX];
    int rank;
    const mw__op *op = mw__join_made_by(operand, "transpose");
    *out_x = operand;
    if (!read_perm(op, perm, &rank) || rank < 2)
        return false;
    for (int i = 0; i < rank; i++)
        if (perm[i] != (i < rank - 2 ? i : 2 * rank - 3 - i))
            return false;
    const mw_tensor *x = mw__op_operand(op, "x");
    *out_x = x->payload == NULL ? x : operand; /* a constant is turned once, when compiled */
    return x->payload == NULL;
}

static bool find_turned_operand(const mw__rewriting *pass, const mw__op *op, const mw_tensor *leaves[2],
                                mw_transposes *out)
{
    bool x = false, y = false;
    const bool turns_x = is_turned(mw__op_operand(op, "x"), &leaves[0]),
               turns_y = is_turned(mw__op_operand(op, "y"), &leaves[1]);
    mw__arg_bool(op, "transpose_x", &x);
    mw__arg_bool(op, "transpose_y", &y);
    *out = (mw_transposes)((x != turns_x ? MW_TRANSPOSE_X : 0) | (y != turns_y ? MW_TRANSPOSE_Y : 0));
    return (turns_x || turns_y) && mw__join_collect(pass->joining, op, leaves, 2);
}

bool mw__join_has_turned_operand(const mw__rewriting *pass, const mw__op *op)
{
    const mw_tensor *leaves[2];
    mw_transposes how;
    return find_turned_operand(pass, op, leaves, &how);
}

mw_tensor *mw__join_turned_operand(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    const mw_tensor *leaves[2];
    mw_transposes how = MW_TRANSPOSE_NONE;
    find_turned_operand(pass, op, leaves, &how);
    return mw_matmul(mw__clone_operand(clone, leaves[0], MW_F32), mw__clone_operand(clone, leaves[1], MW_F32), how);
}
