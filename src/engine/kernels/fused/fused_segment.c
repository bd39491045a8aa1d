/* Finds straight-line code for the instructions of a fusion group: from each instruction on, the row of precompiled.def
 * that takes most of them. What no row takes runs one by one, with the same bits. */
#include "engine/kernels/fused/fused_code.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NO_NUMBER UINT16_MAX

const mw__fused_segment *mw__fused_segment_of(const mw__fused *fused, size_t index)
{
    const mw__fused_segment *segment = fused->segments;
    while (index >= (size_t)segment->first + segment->count)
        segment++;
    return segment;
}

bool mw__fused_is_watched(const mw__fused *fused, uint16_t value)
{
    bool watched = false;
    for (size_t w = 0; w < fused->watch_count; w++)
        watched = watched || fused->watches[w].value == value;
    for (size_t i = 0; i < fused->sum_count; i++)
        watched = watched || fused->sums[i].value == value;
    return watched;
}

bool mw__fused_is_made(const mw__fused_segment *segment, uint16_t value)
{
    bool made = segment->loop == NULL;
    for (size_t i = 0; i < segment->out_count; i++)
        made = made || segment->out[i] == value;
    return made;
}

/* ---- a row beside instructions ---- */

typedef struct matcher {
    const mw__fused *fused;
    const mw__precompiled *row;
    const char *text; /* what is left of the signature */
    mw__fused_segment *out;
    bool within; /* each N is a number of a unit */
} matcher;

static bool take_text(matcher *m, const char *text)
{
    const size_t length = strlen(text);
    if (strncmp(m->text, text, length) != 0)
        return false;
    m->text += length;
    return true;
}

static int operands_of(const mw__fused_code *code) { return code->unary != NULL ? 1 : code->select != NULL ? 3 : 2; }

static char letter_of(const mw__fused *fused, uint16_t value)
{
    if (value >= MW__STEP_READS)
        return fused->code[value - MW__STEP_READS].compare != NULL ? 'B' : 'T';
    const mw__fused_operand *o = &fused->operands[value];
    if (o->dtype == MW_BOOL)
        return o->form == MW__SCALAR ? 'b' : 'B';
    return o->form == MW__SCALAR ? 'S' : 'T';
}

/* The value is the row's next operand, if it has the letter for it. */
static bool add_operand(matcher *m, uint16_t value)
{
    mw__fused_segment *s = m->out;
    if (s->in_count == m->row->operands)
        return false;
    const char wanted = m->row->signature[s->in_count];
    if (letter_of(m->fused, value) != (wanted == 'N' ? 'T' : wanted))
        return false;
    m->within = m->within && (wanted != 'N' || (value < MW__STEP_READS && m->fused->operands[value].own));
    s->in[s->in_count++] = value;
    return true;
}

/* The number of a value in the row; an operand gets the next when it is first met. */
static size_t number_of(matcher *m, uint16_t value)
{
    const mw__fused_segment *s = m->out;
    const size_t made = (size_t)value - MW__STEP_READS;
    if (value >= MW__STEP_READS && made >= s->first)
        return m->row->operands + made - s->first;
    for (size_t i = 0; i < s->in_count; i++)
        if (s->in[i] == value)
            return i;
    return add_operand(m, value) ? s->in_count - 1u : NO_NUMBER;
}

static bool take_number(matcher *m, size_t number)
{
    char *end;
    if (!isdigit((unsigned char)*m->text) || strtoul(m->text, &end, 10) != number)
        return false;
    m->text = end;
    return true;
}

static bool take_instruction(matcher *m, const mw__fused_code *code)
{
    if (!take_text(m, " ") || !take_text(m, code->name))
        return false;
    for (int k = 0; k < operands_of(code); k++)
        if (!take_text(m, k == 0 ? "(" : ",") || !take_number(m, number_of(m, code->in[k])))
            return false;
    return take_text(m, ")");
}

/* Stored, watched, or read behind the segment. */
static bool is_needed(const mw__fused *fused, const mw__fused_segment *s, uint16_t value)
{
    bool needed = mw__fused_store_of(fused, value) >= 0 || mw__fused_is_watched(fused, value);
    for (size_t i = (size_t)s->first + s->count; i < fused->code_count; i++)
        for (int k = 0; k < MW__ELEMENT_OPERANDS; k++)
            needed = needed || fused->code[i].in[k] == value;
    return needed;
}

static bool take_stores(matcher *m)
{
    mw__fused_segment *s = m->out;
    for (size_t i = s->first; i < (size_t)s->first + s->count; i++) {
        if (!is_needed(m->fused, s, m->fused->code[i].out))
            continue;
        if (s->out_count == MW__STEP_WRITES || !take_text(m, s->out_count == 0 ? " store " : ",") ||
            !take_number(m, number_of(m, m->fused->code[i].out)))
            return false;
        s->out[s->out_count++] = m->fused->code[i].out;
    }
    return *m->text == '\0';
}

/* ---- how results are rounded ---- */

/* True if the instruction is as the chip form has it. */
static bool suits_chip(const mw__fused_code *code)
{
    const bool product = strcmp(code->name, "mul") == 0, quotient = strcmp(code->name, "real_div") == 0;
    const unsigned even = MW__ROUND_HALF | MW__ROUND_NUMBER;
    if (code->special != quotient)
        return false;
    if (code->exact)
        return code->how == 0 || code->how == MW__ROUND_HALF || code->how == even;
    return code->how == MW__ROUND_NUMBER || code->how == (product ? even | MW__ROUND_AWAY : even);
}

/* The form that all instructions have; false if there is none, as where some values are rounded and others are not, or
 * all are rounded to fp16 as IEEE 754 has it, which no row does. */
static bool find_form(const mw__fused *r, const mw__fused_segment *s, mw__form *out)
{
    bool plain = true, half = true, chip = true;
    for (size_t i = s->first; i < (size_t)s->first + s->count; i++) {
        const mw__fused_code *code = &r->code[i];
        if (code->compare != NULL || code->select != NULL) {
            half = half && (code->how == 0 || code->how == MW__ROUND_HALF);
            chip = chip && code->how == 0;
            plain = plain && code->how == 0;
            continue;
        }
        plain = plain && code->how == 0 && !code->special;
        half = half && !code->special && (code->how == MW__ROUND_HALF || (code->exact && code->how == 0));
        chip = chip && suits_chip(code);
    }
    *out = plain ? MW__FORM_PLAIN : MW__FORM_CHIP;
    return plain || (chip && !half);
}

/* ---- the whole ---- */

/* Fills the segment if the row computes the instructions from `first` on. */
static bool match_row(const mw__fused *fused, const mw__precompiled *row, size_t first, mw__fused_segment *out)
{
    mw__form form;
    *out = (mw__fused_segment){.first = (uint16_t)first, .count = (uint16_t)row->code};
    matcher m = {.fused = fused, .row = row, .text = row->signature + row->operands, .out = out, .within = true};
    if (first + row->code > fused->code_count)
        return false;
    for (size_t i = first; i < first + row->code; i++)
        if (!take_instruction(&m, &fused->code[i]))
            return false;
    if (!take_stores(&m) || !find_form(fused, out, &form) || row->at[form] == NULL)
        return false;
    out->loop = row->at[form];
    out->within = m.within && row->within[form] != NULL ? row->within[form] : row->at[form];
    return true;
}

/* The longest row that computes the instructions from `first` on; NULL: there is none. */
static const mw__precompiled *find_row(const mw__fused *fused, const mw__precompiled *row, size_t first,
                                       mw__fused_segment *out)
{
    const mw__precompiled *found = NULL;
    for (mw__fused_segment segment; row != NULL && row->name != NULL; row++)
        if ((found == NULL || row->code > found->code) && match_row(fused, row, first, &segment))
            found = row, *out = segment;
    return found;
}

mw_status mw__fused_find_segments(mw__arena *arena, mw__fused *fused, mw__level level, mw_error *err)
{
    const mw__precompiled *rows = mw__precompiled_of(level);
    mw__fused_segment *segments = mw__arena_alloc(arena, fused->code_count + 1, sizeof *segments, err);
    if (segments == NULL)
        return MW_ERROR_MEMORY;
    fused->segments = segments;
    for (size_t first = 0; first < fused->code_count;) {
        mw__fused_segment *last = fused->segment_count > 0 ? &segments[fused->segment_count - 1] : NULL;
        const mw__precompiled *row = find_row(fused, rows, first, &segments[fused->segment_count]);
        if (row == NULL && last != NULL && last->loop == NULL) {
            last->count++, first++;
            continue;
        }
        if (row == NULL)
            segments[fused->segment_count] = (mw__fused_segment){.first = (uint16_t)first, .count = 1};
        first += segments[fused->segment_count++].count;
        fused->whole = row != NULL && row->code == fused->code_count ? row->name : NULL;
    }
    return MW_OK;
}
