/* The equation of a contraction: letters, and the shapes that they stand for. */
#include "base/text/error.h"
#include "graph/patterns/contract.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* equation = term {"," term} ["->" term], a term of letters with at most one "..."; spaces are allowed. */
typedef struct equation_reader {
    const char *text;
    size_t at;   /* the next byte */
    size_t sign; /* where the last sign began */
    mw_error *err;
} equation_reader;

/* What a sign is; a letter is its label. */
enum { SIGN_END = -1, SIGN_COMMA = -2, SIGN_ARROW = -3, SIGN_DOTS = -4, SIGN_NONE = -5 };

/* A term before its operand is known: labels with SIGN_DOTS among them. */
typedef struct raw_term {
    int count;
    int sign[MW_RANK_MAX + 1];
    bool dots;
    size_t from; /* where it begins */
} raw_term;

mw__label_set mw__contraction_labels(const mw__contraction_term *term)
{
    mw__label_set set = 0;
    for (int i = 0; i < term->rank; i++)
        set |= MW__LABEL_BIT(term->label[i]);
    return set;
}

static mw_status fail_place(const equation_reader *r, size_t at, const char *what)
{
    return mw__fail(r->err, MW_ERROR_ARGUMENT, "contract: equation \"%s\", character %zu: %s", r->text, at + 1, what);
}

static int label_of(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : SIGN_NONE; }

static char letter_of(int label) { return (char)(label < 26 ? 'A' + label : 'a' + label - 26); }

/* How a label is called in a message. */
static const char *label_text(int label, char out[64])
{
    if (label < MW__CONTRACTION_DOTS)
        snprintf(out, 64, "\"%c\"", letter_of(label));
    else
        snprintf(out, 64, "axis -%d of \"...\"", MW__CONTRACTION_LABELS - label);
    return out;
}

static int next_sign(equation_reader *r)
{
    while (r->text[r->at] == ' ')
        r->at++;
    const char *from = r->text + r->at;
    r->sign = r->at;
    if (*from == '\0')
        return SIGN_END;
    const bool arrow = strncmp(from, "->", 2) == 0, dots = strncmp(from, "...", 3) == 0;
    r->at += dots ? 3 : arrow ? 2 : 1;
    return dots ? SIGN_DOTS : arrow ? SIGN_ARROW : *from == ',' ? SIGN_COMMA : label_of(*from);
}

/* Reads a term and returns in *out_end the sign that ended it. */
static mw_status read_term(equation_reader *r, raw_term *out, int *out_end)
{
    *out = (raw_term){.from = r->at};
    for (;;) {
        const int sign = next_sign(r);
        if (sign == SIGN_END || sign == SIGN_COMMA || sign == SIGN_ARROW) {
            *out_end = sign;
            return MW_OK;
        }
        if (sign == SIGN_NONE)
            return fail_place(r, r->sign,
                              "a term has letters and \"...\"; terms are separated by \",\", the result by \"->\"");
        if (sign == SIGN_DOTS && out->dots)
            return fail_place(r, r->sign, "a second \"...\" in one term");
        if (out->count - out->dots + (sign != SIGN_DOTS) > MW_RANK_MAX)
            return fail_place(r, r->sign, "a term has at most 8 letters, as a tensor has at most 8 axes");
        out->dots = out->dots || sign == SIGN_DOTS;
        out->sign[out->count++] = sign;
    }
}

/* Replaces "..." by `axes` labels. */
static void expand_dots(const raw_term *raw, int axes, mw__contraction_term *out)
{
    out->rank = 0;
    for (int i = 0; i < raw->count; i++) {
        if (raw->sign[i] != SIGN_DOTS)
            out->label[out->rank++] = raw->sign[i];
        for (int k = 0; raw->sign[i] == SIGN_DOTS && k < axes; k++)
            out->label[out->rank++] = MW__CONTRACTION_LABELS - axes + k;
    }
}

static mw_status fit_term(const equation_reader *r, const raw_term *raw, size_t index, int rank,
                          mw__contraction_term *out)
{
    const int letters = raw->count - raw->dots;
    if (letters > rank || (!raw->dots && letters < rank))
        return mw__fail(r->err, MW_ERROR_SHAPE,
                        "contract: equation \"%s\": term %zu has %d letters%s, operand %zu has %d axes%s", r->text,
                        index, letters, raw->dots ? " beside \"...\"" : "", index, rank,
                        letters < rank ? "; \"...\" stands for axes without a letter" : "");
    expand_dots(raw, rank - letters, out);
    return MW_OK;
}

/* ---- the result ---- */

/* Without "->": "...", then the letters that stand once in all terms, in the order of their codes. */
static mw_status default_result(const equation_reader *r, mw__contraction *c)
{
    int times[MW__CONTRACTION_LABELS] = {0};
    for (size_t t = 0; t < c->count; t++)
        for (int i = 0; i < c->term[t].rank; i++)
            times[c->term[t].label[i]]++;
    for (int k = 0; k < MW__CONTRACTION_LABELS; k++) {
        const int label = (k + MW__CONTRACTION_DOTS) % MW__CONTRACTION_LABELS;
        if (label < MW__CONTRACTION_DOTS ? times[label] != 1 : times[label] == 0)
            continue;
        if (c->result.rank == MW_RANK_MAX)
            return mw__fail(
                r->err, MW_ERROR_SHAPE,
                "contract: equation \"%s\": the result has more than %d axes; write \"->\" and those it has", r->text,
                MW_RANK_MAX);
        c->result.label[c->result.rank++] = label;
    }
    return MW_OK;
}

/* Axes of "..." over all operands. */
static int dots_axes(const mw__contraction *c)
{
    int axes = 0;
    for (size_t t = 0; t < c->count; t++)
        for (int i = 0; i < c->term[t].rank; i++)
            if (c->term[t].label[i] >= MW__CONTRACTION_DOTS && MW__CONTRACTION_LABELS - c->term[t].label[i] > axes)
                axes = MW__CONTRACTION_LABELS - c->term[t].label[i];
    return axes;
}

static mw_status given_result(const equation_reader *r, const raw_term *raw, mw__contraction *c)
{
    const int axes = raw->dots ? dots_axes(c) : 0;
    mw__label_set given = 0, seen = 0;
    if (raw->count - raw->dots + axes > MW_RANK_MAX)
        return mw__fail(r->err, MW_ERROR_SHAPE,
                        "contract: equation \"%s\": the result has %d axes; at most %d are allowed", r->text,
                        raw->count - raw->dots + axes, MW_RANK_MAX);
    for (size_t t = 0; t < c->count; t++)
        given |= mw__contraction_labels(&c->term[t]);
    for (int i = 0; i < raw->count; i++) {
        const mw__label_set bit = raw->sign[i] == SIGN_DOTS ? 0 : MW__LABEL_BIT(raw->sign[i]);
        char what[96];
        snprintf(what, sizeof what, "the result has \"%c\" %s", bit != 0 ? letter_of(raw->sign[i]) : '.',
                 (seen & bit) != 0 ? "twice" : "but no operand has it");
        if ((seen & bit) != 0 || (bit & ~given) != 0)
            return fail_place(r, raw->from, what);
        seen |= bit;
    }
    expand_dots(raw, axes, &c->result);
    return MW_OK;
}

/* ---- extents ---- */

/* An extent of 1 broadcasts; what is unknown gives way to a number. */
static mw_status join_extent(const equation_reader *r, mw__contraction *c, int label, size_t operand, int64_t extent)
{
    int64_t *joined = &c->extent[label];
    char text[64];
    if (extent == *joined || extent == 1 || (extent < 0 && *joined != 1))
        return MW_OK;
    if (*joined == 1 || *joined < 0) {
        *joined = extent;
        return MW_OK;
    }
    return mw__fail(r->err, MW_ERROR_SHAPE,
                    "contract: equation \"%s\": %s has extent %" PRId64 " in operand %zu but %" PRId64 " before",
                    r->text, label_text(label, text), extent, operand, *joined);
}

/* Within one operand a repeated letter is a diagonal, which nothing broadcasts. */
static mw_status check_diagonals(const equation_reader *r, const mw__contraction_term *term, mw_shape shape,
                                 size_t operand)
{
    for (int i = 0; i < term->rank; i++)
        for (int j = i + 1; j < term->rank; j++) {
            const int64_t n = shape.dim[i], m = shape.dim[j];
            if (term->label[i] != term->label[j] || (n == m && n >= 0))
                continue;
            return mw__fail(
                r->err, MW_ERROR_SHAPE,
                "contract: equation \"%s\": \"%c\" is a diagonal of operand %zu, whose extents there are %" PRId64
                " and %" PRId64 "; they must be known and equal",
                r->text, letter_of(term->label[i]), operand, n, m);
        }
    return MW_OK;
}

static mw_status join_extents(const equation_reader *r, const mw_shape *shapes, mw__contraction *c)
{
    for (int label = 0; label < MW__CONTRACTION_LABELS; label++)
        c->extent[label] = 1;
    for (size_t t = 0; t < c->count; t++) {
        MW_TRY(check_diagonals(r, &c->term[t], shapes[t], t));
        for (int i = 0; i < c->term[t].rank; i++)
            MW_TRY(join_extent(r, c, c->term[t].label[i], t, shapes[t].dim[i]));
    }
    return MW_OK;
}

/* As many terms as operands, which have been counted, and the result. */
static mw_status read_terms(equation_reader *r, const mw_shape *shapes, size_t count, mw__contraction *c)
{
    int end = SIGN_END;
    raw_term raw;
    for (; c->count < count; c->count++) {
        MW_TRY(read_term(r, &raw, &end));
        MW_TRY(fit_term(r, &raw, c->count, shapes[c->count].rank, &c->term[c->count]));
    }
    if (end == SIGN_END)
        return default_result(r, c);
    MW_TRY(read_term(r, &raw, &end));
    if (end != SIGN_END)
        return fail_place(r, r->sign, "the result is one term, which ends the equation");
    return given_result(r, &raw, c);
}

/* How many terms stand before the arrow. */
static size_t count_terms(const char *equation)
{
    size_t count = 1;
    for (const char *at = equation; *at != '\0' && strncmp(at, "->", 2) != 0; at++)
        count += *at == ',';
    return count;
}

mw_status mw__contraction_read(const char *equation, const mw_shape *shapes, size_t count, mw__contraction *out,
                               mw_error *err)
{
    *out = (mw__contraction){0};
    if (equation == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "contract: the equation is NULL");
    equation_reader r = {.text = equation, .err = err};
    const size_t terms = count_terms(equation);
    if (count < 1 || count > MW__CONTRACTION_OPERANDS)
        return mw__fail(err, MW_ERROR_ARGUMENT, "contract: %zu operands; 1 to %d are allowed", count,
                        MW__CONTRACTION_OPERANDS);
    if (terms != count)
        return mw__fail(err, MW_ERROR_ARGUMENT, "contract: equation \"%s\" has %zu terms for %zu operands", equation,
                        terms, count);
    MW_TRY(read_terms(&r, shapes, count, out));
    return join_extents(&r, shapes, out);
}
