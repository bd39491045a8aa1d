/* Products. */
#include "format/onnx/read/import.h"
#include "graph/constants/compressed.h"

#include <millwright/ops/elementwise.h>
#include <millwright/ops/matmul.h>
#include <millwright/ops/reduce.h>
#include <millwright/ops/shape.h>

#include <string.h>

mw_status mw__onnx_matmul(mw__onnx_node *node)
{
    mw_tensor *x = mw__onnx_in(node, 0), *y = mw__onnx_in(node, 1);
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), mw_matmul(x, y, MW_TRANSPOSE_NONE));
}

/* An initializer, or what is made of one when a program is compiled. */
static bool is_constant(mw__onnx_node *node, size_t index)
{
    const mw__onnx_value *value = node->in[index];
    return value->literal != NULL || (value->tensor != NULL && mw__op_is_constexpr(value->tensor->op));
}

/* MIL's linear, if the node is one: x weight^T + bias with the weight and the bias of an initializer. */
static bool is_linear(mw__onnx_node *node, double alpha, double beta)
{
    if (alpha != 1 || mw__onnx_int(node, "transA", 0) != 0 || mw__onnx_int(node, "transB", 0) == 0)
        return false;
    if (!mw__onnx_has(node, 2))
        return is_constant(node, 1);
    const mw_shape bias = mw__onnx_shape(node, 2), weight = mw__onnx_shape(node, 1);
    return beta == 1 && is_constant(node, 1) && node->in[2]->literal != NULL && bias.rank == 1 && weight.rank == 2 &&
           bias.dim[0] == weight.dim[0];
}

mw_status mw__onnx_gemm(mw__onnx_node *node)
{
    const double alpha = mw__onnx_float(node, "alpha", 1), beta = mw__onnx_float(node, "beta", 1);
    const int type = mw__onnx_type(node, 0);
    if (mw__onnx_shape(node, 0).rank != 2 || mw__onnx_shape(node, 1).rank != 2)
        return mw__onnx_refuse(node, "its operands are no matrices");
    mw_tensor *x = mw__onnx_in(node, 0), *y = mw__onnx_in(node, 1), *bias = mw__onnx_in(node, 2);
    if (is_linear(node, alpha, beta))
        return mw__onnx_set(node, 0, type, mw_linear(x, y, bias));
    const mw_transposes turned = (mw__onnx_int(node, "transA", 0) != 0 ? MW_TRANSPOSE_X : 0u) |
                                 (mw__onnx_int(node, "transB", 0) != 0 ? MW_TRANSPOSE_Y : 0u);
    mw_tensor *made = mw_matmul(x, y, turned);
    if (alpha != 1)
        made = mw_mul_scalar(made, alpha);
    if (bias != NULL && beta != 0)
        made = mw_add(made, beta != 1 ? mw_mul_scalar(bias, beta) : bias);
    return mw__onnx_set(node, 0, type, made);
}

/* ---- einsum ---- */

enum { LETTERS_MAX = 8 };

/* equation = term {"," term} ["->" term], a term of letters, in which "..." stands for axes without a letter. Those get
 * digits, the last of them the same one in each term, so that they broadcast. */
typedef struct equation {
    char terms[2][LETTERS_MAX + 1];
    size_t count;
    char result[2 * LETTERS_MAX + 1];
    bool has_result;
} equation;

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* The next sign of the text: a letter, ',', '>' for "->", '.' for "...", 0 at the end; '?' for anything else. */
static char next_sign(const Mw__Onnx__Attribute *text, size_t *at)
{
    while (*at < text->s.len && text->s.data[*at] == ' ')
        ++*at;
    if (*at == text->s.len)
        return 0;
    const char *from = (const char *)text->s.data + *at;
    const size_t left = text->s.len - *at;
    const bool arrow = left >= 2 && memcmp(from, "->", 2) == 0, dots = left >= 3 && memcmp(from, "...", 3) == 0;
    *at += dots ? 3 : arrow ? 2 : 1;
    if (dots || arrow)
        return dots ? '.' : '>';
    return is_letter(*from) || *from == ',' ? *from : '?';
}

static bool parse_equation(const Mw__Onnx__Attribute *text, equation *out)
{
    *out = (equation){.count = 1};
    char *term = out->terms[0], sign;
    size_t at = 0, length = 0, room = LETTERS_MAX;
    while ((sign = next_sign(text, &at)) != 0) {
        const bool next = sign == ',' && out->count < 2 && !out->has_result, arrow = sign == '>' && !out->has_result;
        if (next)
            term = out->terms[out->count++];
        else if (arrow)
            term = out->result;
        if (next || arrow) {
            room = arrow ? 2 * LETTERS_MAX : room;
            out->has_result = arrow;
            length = 0;
        } else if ((is_letter(sign) || (sign == '.' && strchr(term, '.') == NULL)) && length < room) {
            term[length++] = sign;
        } else {
            return false;
        }
    }
    return true;
}

/* Without "->": "...", and the letters that stand once, in the order of the alphabet. */
static void default_result(equation *e)
{
    size_t length = 0;
    if (strchr(e->terms[0], '.') != NULL || strchr(e->terms[1], '.') != NULL)
        e->result[length++] = '.';
    for (int c = 'A'; c <= 'z'; c++) {
        int times = 0;
        for (size_t t = 0; t < e->count; t++)
            for (const char *at = e->terms[t]; *at != '\0'; at++)
                times += *at == c;
        if (times == 1)
            e->result[length++] = (char)c;
    }
    e->result[length] = '\0';
}

/* Puts `axes` digits in the place of the dots; false if there are none but should be. */
static bool expand_dots(char *term, size_t capacity, int axes)
{
    char *dots = strchr(term, '.');
    const size_t length = strlen(term);
    if (dots == NULL)
        return axes <= 0;
    if (axes < 0 || axes > LETTERS_MAX || length - 1 + (size_t)axes > capacity)
        return false;
    memmove(dots + axes, dots + 1, strlen(dots));
    for (int i = 0; i < axes; i++)
        dots[i] = (char)('0' + LETTERS_MAX - axes + i);
    return true;
}

static bool expand_all(const mw__onnx_node *node, equation *e)
{
    int most = 0;
    for (size_t t = 0; t < e->count; t++) {
        const bool dots = strchr(e->terms[t], '.') != NULL;
        const int axes = mw__onnx_shape(node, t).rank - (int)strlen(e->terms[t]) + dots;
        if (!expand_dots(e->terms[t], LETTERS_MAX, axes) || (!dots && axes != 0))
            return false;
        most = axes > most ? axes : most;
    }
    return strchr(e->result, '.') == NULL || expand_dots(e->result, 2 * LETTERS_MAX, most);
}

/* A letter that stands twice in a term: the diagonal of the two axes, as a gather of the flattened pair. */
static mw_tensor *take_diagonal(mw_tensor *x, char *term, int first, int second)
{
    const mw_shape shape = mw_tensor_shape(x);
    mw_axes perm = {0};
    for (int i = 0; i < shape.rank; i++)
        if (i != first && i != second)
            perm.axis[perm.count++] = i;
    const int kept = perm.count;
    perm.axis[perm.count++] = first;
    perm.axis[perm.count++] = second;
    const int64_t n = shape.dim[first];
    mw_shape flat = {.rank = kept + 1};
    for (int i = 0; i < kept; i++)
        flat.dim[i] = shape.dim[perm.axis[i]];
    flat.dim[kept] = n * n;
    mw_tensor *pairs = mw_reshape(mw_transpose(x, perm), flat);
    mw_slice slices[MW_RANK_MAX] = {{0}};
    for (int i = 0; i < kept; i++)
        slices[i] = (mw_slice){.from_start = true, .to_end = true};
    slices[kept] = (mw_slice){.from_start = true, .to_end = true, .stride = n + 1};
    const char letter = term[first];
    char rest[LETTERS_MAX + 1];
    for (int i = 0; i < kept; i++)
        rest[i] = term[perm.axis[i]];
    rest[kept] = letter;
    rest[kept + 1] = '\0';
    memcpy(term, rest, (size_t)kept + 2);
    return mw_slice_by_index(pairs, slices);
}

static mw_tensor *take_diagonals(mw_tensor *x, char *term)
{
    for (int i = 0; x != NULL && term[i] != '\0'; i++) {
        const char *again = strchr(term + i + 1, term[i]);
        if (again == NULL)
            continue;
        const int j = (int)(again - term);
        if (mw_tensor_shape(x).dim[i] != mw_tensor_shape(x).dim[j])
            return NULL;
        x = take_diagonal(x, term, i, j);
        i = -1;
    }
    return x;
}

/* x with its axes in the order of `letters`, of extent 1 where the term lacks one. */
static mw_tensor *arrange(mw_tensor *x, const char *term, const char *letters)
{
    mw_axes perm = {0}, added = {0};
    for (int i = 0; letters[i] != '\0'; i++) {
        const char *at = strchr(term, letters[i]);
        if (at == NULL)
            added.axis[added.count++] = i;
        else
            perm.axis[perm.count++] = (int)(at - term);
    }
    if (perm.count > 1)
        x = mw_transpose(x, perm);
    return added.count > 0 ? mw_expand_dims(x, added) : x;
}

/* result = sum over the letters that it lacks of the product of the terms, broadcast over all letters. */
static mw_tensor *product(mw_tensor **x, const equation *e)
{
    char letters[MW_RANK_MAX + 1];
    const size_t kept = strlen(e->result);
    size_t count = kept;
    if (kept > MW_RANK_MAX)
        return NULL;
    memcpy(letters, e->result, kept);
    letters[count] = '\0';
    for (size_t t = 0; t < e->count; t++)
        for (const char *at = e->terms[t]; *at != '\0'; at++)
            if (strchr(letters, *at) == NULL) {
                if (count == MW_RANK_MAX)
                    return NULL;
                letters[count++] = *at;
                letters[count] = '\0';
            }
    mw_tensor *made = arrange(x[0], e->terms[0], letters);
    if (e->count == 2)
        made = mw_mul(made, arrange(x[1], e->terms[1], letters));
    mw_axes summed = {.count = (int)(count - kept)};
    for (int i = 0; i < summed.count; i++)
        summed.axis[i] = (int)kept + i;
    return summed.count > 0 ? mw_reduce_sum(made, summed, false) : made;
}

/* "bij,bjk->bik" and its like without batch: a matrix product. */
static mw_tensor *as_matmul(mw_tensor **x, const equation *e)
{
    const size_t rank = strlen(e->result);
    if (e->count != 2 || rank < 2 || strlen(e->terms[0]) != rank || strlen(e->terms[1]) != rank)
        return NULL;
    const size_t batch = rank - 2;
    const char *a = e->terms[0] + batch, *b = e->terms[1] + batch, *r = e->result + batch;
    const bool same = strncmp(e->terms[0], e->result, batch) == 0 && strncmp(e->terms[1], e->result, batch) == 0;
    if (!same || a[0] != r[0] || a[1] == r[1] || a[0] == a[1] || r[0] == r[1])
        return NULL;
    if (a[1] == b[0] && b[1] == r[1])
        return mw_matmul(x[0], x[1], MW_TRANSPOSE_NONE);
    return a[1] == b[1] && b[0] == r[1] ? mw_matmul(x[0], x[1], MW_TRANSPOSE_Y) : NULL;
}

static bool letters_fit(const equation *e)
{
    for (const char *at = e->result; *at != '\0'; at++)
        if ((strchr(e->terms[0], *at) == NULL && (e->count < 2 || strchr(e->terms[1], *at) == NULL)) ||
            strchr(at + 1, *at) != NULL)
            return false;
    return true;
}

mw_status mw__onnx_einsum(mw__onnx_node *node)
{
    equation e;
    const Mw__Onnx__Attribute *text = mw__onnx_attribute(node, "equation");
    if (text == NULL || !parse_equation(text, &e) || e.count != node->in_count)
        return mw__onnx_refuse(node, "its equation is not one of letters for one or two operands");
    if (!e.has_result)
        default_result(&e);
    mw_tensor *x[2] = {NULL, NULL};
    for (size_t i = 0; i < e.count; i++)
        if (!mw__onnx_has(node, i))
            return mw__onnx_refuse(node, "input %zu is left out", i);
    if (!expand_all(node, &e))
        return mw__onnx_refuse(node, "a term of its equation does not fit the rank of its operand");
    for (size_t i = 0; i < e.count; i++) {
        x[i] = take_diagonals(mw__onnx_in(node, i), e.terms[i]);
        if (x[i] == NULL && node->graph != NULL && mw_graph_check(node->graph, NULL) == MW_OK)
            return mw__onnx_refuse(node, "a letter stands for two extents");
    }
    if (!letters_fit(&e))
        return mw__onnx_refuse(node, "its equation has a result that no operand has");
    mw_tensor *made = as_matmul(x, &e);
    if (made == NULL)
        made = product(x, &e);
    if (made == NULL && mw_graph_check(node->graph, NULL) == MW_OK)
        return mw__onnx_refuse(node, "its equation has more than %d letters", MW_RANK_MAX);
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), made);
}
