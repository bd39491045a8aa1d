/* The boxes and arrows of a picture: layers, blocks that are repeated as one, and of a large program its two ends. */
#include "view/draw.h"

#include "base/text/error.h"
#include "base/text/string.h"

#include <string.h>

enum { PERIOD_MAX = 96 };

/* ---- repeated blocks ---- */

static bool same_reads(const mw_summary *s, size_t a, size_t b, size_t begin)
{
    const mw_summary_layer *x = &s->layers[a], *y = &s->layers[b];
    if (x->read_count != y->read_count)
        return false;
    for (size_t i = 0; i < x->read_count; i++)
        if (a - x->reads[i] != b - y->reads[i] && (x->reads[i] != y->reads[i] || x->reads[i] >= begin))
            return false;
    return true;
}

/* The same but for names. */
static bool same_layer(const mw_summary *s, size_t a, size_t b, size_t begin)
{
    const mw_summary_layer *x = &s->layers[a], *y = &s->layers[b];
    return x->operation_count > 0 && strcmp(x->kind, y->kind) == 0 && strcmp(x->detail, y->detail) == 0 &&
           x->operation_count == y->operation_count && x->dtype == y->dtype && mw_shape_equal(x->shape, y->shape) &&
           x->parameters == y->parameters && x->output[0] == '\0' && y->output[0] == '\0' && same_reads(s, a, b, begin);
}

/* How often the `period` layers from `begin` on are there, one behind the other. */
static size_t count_repeats(const mw_summary *s, size_t begin, size_t period)
{
    size_t same = 0;
    while (begin + same + period < s->count && same_layer(s, begin + same, begin + same + period, begin))
        same++;
    return 1 + same / period;
}

/* The number in which two names differ, "12" of "block12.fc1"; the length, 0 = they are equal. */
static size_t number_of(const char *name, const char *other, const char **out_begin)
{
    size_t at = 0;
    while (name[at] != '\0' && name[at] == other[at])
        at++;
    if (name[at] == '\0' && other[at] == '\0')
        return 0;
    while (at > 0 && mw__character_is_digit(name[at - 1]))
        at--;
    *out_begin = name + at;
    return strspn(name + at, "0123456789");
}

/* How many layers with weights of a block have another number than the first of them: 0 where it is cut as its author
 * cut it. */
static size_t count_strangers(const mw_summary *s, size_t begin, size_t period)
{
    const char *first = NULL, *own = NULL;
    size_t first_length = 0, strangers = 0;
    for (size_t i = begin; i < begin + period; i++) {
        if (s->layers[i].parameters == 0)
            continue;
        const size_t length = number_of(s->layers[i].name, s->layers[i + period].name, &own);
        if (first == NULL) {
            first = own;
            first_length = length;
        }
        strangers += length != first_length || (length > 0 && memcmp(first, own, length) != 0);
    }
    return strangers;
}

/* The block may begin somewhat later and be there as often: where its names begin to have one number. */
static size_t shift_of(const mw_summary *s, size_t begin, const mw__fold *fold)
{
    size_t best = 0, least = count_strangers(s, begin, fold->count);
    for (size_t shift = 1; shift < fold->count && least > 0; shift++) {
        if (count_repeats(s, begin + shift, fold->count) < fold->times)
            break;
        const size_t strangers = count_strangers(s, begin + shift, fold->count);
        best = strangers < least ? shift : best;
        least = strangers < least ? strangers : least;
    }
    return best;
}

/* Whether the second of them reads what the first gives: equal layers side by side are no repeated block. */
static bool is_chained(const mw_summary *s, size_t begin, size_t period)
{
    for (size_t i = begin + period; i < begin + 2 * period; i++)
        for (size_t k = 0; k < s->layers[i].read_count; k++)
            if (s->layers[i].reads[k] >= begin && s->layers[i].reads[k] < begin + period)
                return true;
    return false;
}

static mw__fold find_fold(const mw_summary *s, size_t begin)
{
    mw__fold best = {.count = 1, .times = 1};
    for (size_t period = 1; period <= PERIOD_MAX && begin + 2 * period <= s->count; period++) {
        const size_t times = count_repeats(s, begin, period);
        if (times < 2 || (period < 3 && times < 4) || period * (times - 1) <= (size_t)best.count * (best.times - 1) ||
            !is_chained(s, begin, period))
            continue;
        best = (mw__fold){.count = (uint32_t)period, .times = (uint32_t)times};
    }
    return best;
}

/* "block*.fc1" for "block0.fc1" and "block1.fc1". */
static const char *common_name(mw__drawing *d, const char *a, const char *b)
{
    size_t before = 0, behind = 0;
    const size_t length_a = strlen(a), length_b = strlen(b), least = length_a < length_b ? length_a : length_b;
    while (before < least && a[before] == b[before])
        before++;
    while (behind < least - before && a[length_a - behind - 1] == b[length_b - behind - 1])
        behind++;
    while (before > 0 && mw__character_is_digit(a[before - 1]))
        before--;
    while (behind > 0 && mw__character_is_digit(a[length_a - behind]))
        behind--;
    if (before == length_a && before == length_b)
        return a;
    char *name = mw__arena_alloc(&d->arena, before + behind + 2, 1, d->err);
    if (name == NULL)
        return NULL;
    memcpy(name, a, before);
    name[before] = '*';
    memcpy(name + before + 1, a + length_a - behind, behind);
    return name;
}

/* ---- boxes ---- */

mw_status mw__draw_add_box(mw__drawing *d, const mw__draw_box *box, uint32_t *out_index)
{
    if (d->box_count == d->box_room) {
        const uint32_t room = d->box_room > 0 ? 2 * d->box_room : 64;
        mw__draw_box *boxes = mw__arena_alloc(&d->arena, room, sizeof *boxes, d->err);
        if (boxes == NULL)
            return MW_ERROR_MEMORY;
        if (d->box_count > 0)
            memcpy(boxes, d->boxes, d->box_count * sizeof *boxes);
        d->boxes = boxes;
        d->box_room = room;
    }
    *out_index = d->box_count;
    d->boxes[d->box_count++] = *box;
    return MW_OK;
}

mw_status mw__draw_add_arrow(mw__drawing *d, uint32_t from, uint32_t to)
{
    if (d->arrow_count == d->arrow_room) {
        const uint32_t room = d->arrow_room > 0 ? 2 * d->arrow_room : 64;
        mw__arrow *arrows = mw__arena_alloc(&d->arena, room, sizeof *arrows, d->err);
        if (arrows == NULL)
            return MW_ERROR_MEMORY;
        if (d->arrow_count > 0)
            memcpy(arrows, d->arrows, d->arrow_count * sizeof *arrows);
        d->arrows = arrows;
        d->arrow_room = room;
    }
    d->arrows[d->arrow_count++] = (mw__arrow){.from = from, .to = to};
    return MW_OK;
}

static mw_status add_layer(mw__drawing *d, size_t index, const mw__fold *fold, uint32_t *box_of)
{
    const mw_summary_layer *layer = &d->summary->layers[index];
    mw__draw_box box = {.kind = layer->operation_count == 0 && strcmp(layer->kind, "input") == 0 ? MW__BOX_INPUT
                                                                                                 : MW__BOX_LAYER,
                        .layer = layer,
                        .name = layer->name,
                        .fold = fold->times > 1 ? d->fold_count : MW__VIEW_NONE};
    if (fold->times > 1)
        box.name = common_name(d, layer->name, d->summary->layers[index + fold->count].name);
    if (box.name == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__draw_add_box(d, &box, &box_of[index]));
    for (size_t k = 1; k < fold->times; k++)
        box_of[index + k * fold->count] = box_of[index];
    return MW_OK;
}

static mw_status add_layers(mw__drawing *d, uint32_t *box_of, size_t begin, size_t end)
{
    for (size_t i = begin; i < end;) {
        mw__fold fold = d->options.unfolded ? (mw__fold){.count = 1, .times = 1} : find_fold(d->summary, i);
        const bool cut = i + (size_t)fold.count * fold.times > end;
        if (cut || (fold.times > 1 && shift_of(d->summary, i, &fold) > 0))
            fold = (mw__fold){.count = 1, .times = 1};
        fold.first = d->box_count;
        for (size_t k = 0; k < fold.count; k++)
            MW_TRY(add_layer(d, i + k, &fold, box_of));
        if (fold.times > 1)
            d->folds[d->fold_count++] = fold;
        i += (size_t)fold.count * fold.times;
    }
    return MW_OK;
}

/* Layers [begin, end) as one box. */
static mw_status add_hidden(mw__drawing *d, uint32_t *box_of, size_t begin, size_t end)
{
    const mw__draw_box box = {.kind = MW__BOX_HIDDEN, .name = "", .hidden = end - begin, .fold = MW__VIEW_NONE};
    uint32_t index;
    MW_TRY(mw__draw_add_box(d, &box, &index));
    for (size_t i = begin; i < end; i++)
        box_of[i] = index;
    return MW_OK;
}

/* ---- arrows ---- */

/* Arrows of what comes second or later of a repeated block are those of the first, but for what the block before gives:
 * that is not drawn. */
static mw_status add_arrows(mw__drawing *d, const uint32_t *box_of, uint32_t *seen)
{
    for (size_t i = 0; i < d->summary->count; i++) {
        const mw_summary_layer *layer = &d->summary->layers[i];
        const uint32_t to = box_of[i];
        for (size_t k = 0; k < layer->read_count; k++) {
            const uint32_t from = box_of[layer->reads[k]];
            if (from >= to || seen[from] == i + 1)
                continue;
            seen[from] = (uint32_t)i + 1;
            MW_TRY(mw__draw_add_arrow(d, from, to));
        }
    }
    return MW_OK;
}

static bool comes_before(const mw__arrow *a, const mw__arrow *b)
{
    return a->to != b->to ? a->to < b->to : a->from < b->from;
}

/* Sorts them and leaves out those that are there twice. */
static void tidy_arrows(mw__drawing *d)
{
    uint32_t kept = 0;
    for (uint32_t gap = d->arrow_count / 2; gap > 0; gap /= 2) {
        for (uint32_t i = gap; i < d->arrow_count; i++) {
            const mw__arrow moved = d->arrows[i];
            uint32_t at = i;
            for (; at >= gap && comes_before(&moved, &d->arrows[at - gap]); at -= gap)
                d->arrows[at] = d->arrows[at - gap];
            d->arrows[at] = moved;
        }
    }
    for (uint32_t i = 0; i < d->arrow_count; i++)
        if (kept == 0 || comes_before(&d->arrows[kept - 1], &d->arrows[i]))
            d->arrows[kept++] = d->arrows[i];
    d->arrow_count = kept;
}

static mw_status add_outputs(mw__drawing *d, const uint32_t *box_of)
{
    for (size_t i = 0; i < d->summary->count; i++) {
        const mw_summary_layer *layer = &d->summary->layers[i];
        const mw__draw_box box = {.kind = MW__BOX_OUTPUT, .layer = layer, .name = layer->output, .fold = MW__VIEW_NONE};
        uint32_t index;
        if (layer->output[0] == '\0' || d->boxes[box_of[i]].kind == MW__BOX_HIDDEN)
            continue;
        MW_TRY(mw__draw_add_box(d, &box, &index));
        MW_TRY(mw__draw_add_arrow(d, box_of[i], index));
    }
    return MW_OK;
}

/* ---- all ---- */

static mw_status make_boxes(mw__drawing *d)
{
    const size_t count = d->summary->count;
    uint32_t *box_of = mw__arena_alloc(&d->arena, count + 1, sizeof *box_of, d->err);
    uint32_t *seen = mw__arena_alloc(&d->arena, count + 2, sizeof *seen, d->err);
    d->folds = mw__arena_alloc(&d->arena, count + 1, sizeof *d->folds, d->err);
    if (box_of == NULL || seen == NULL || d->folds == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(add_layers(d, box_of, 0, count));
    if (d->box_count > d->options.most) {
        const size_t half = d->options.most / 2;
        d->box_count = d->fold_count = 0;
        d->options.unfolded = true; /* what is left are the ends */
        MW_TRY(add_layers(d, box_of, 0, half));
        MW_TRY(add_hidden(d, box_of, half, count - half));
        MW_TRY(add_layers(d, box_of, count - half, count));
    }
    MW_TRY(add_arrows(d, box_of, seen));
    MW_TRY(add_outputs(d, box_of));
    tidy_arrows(d);
    return MW_OK;
}

mw_status mw__draw_make(mw__drawing *d, const mw_summary *summary, const mw_draw_options *options, mw_error *err)
{
    *d = (mw__drawing){.summary = summary, .options = *options, .err = err};
    mw__arena_init(&d->arena, summary->allocator);
    return make_boxes(d);
}

void mw__draw_deinit(mw__drawing *d) { mw__arena_deinit(&d->arena); }

/* ---- text ---- */

static void put_shape(const mw_summary_layer *layer, mw__text *out)
{
    if (layer->dtype == MW_DTYPE_NONE)
        return;
    mw__text_printf(out, "%s ", mw_dtype_name(layer->dtype));
    mw__put_shape(out, layer->shape);
}

/* "relu_12" and "relu_*" say no more than the kind. */
static bool is_numbered(const char *name, const char *kind)
{
    const size_t length = strlen(kind);
    return strncmp(name, kind, length) == 0 && name[length] == '_' &&
           strspn(name + length + 1, "0123456789*") == strlen(name + length + 1);
}

static void put_layer_line(const mw__draw_box *box, int line, mw__text *out)
{
    const mw_summary_layer *layer = box->layer;
    if (line == 0) {
        mw__text_puts(out, layer->kind);
        mw__text_puts(out, layer->detail[0] != '\0' ? " " : "");
        mw__text_puts(out, layer->detail);
    } else if (line == 1 && !is_numbered(box->name, layer->kind)) {
        mw__text_puts(out, box->name);
    } else if (line == 2) {
        put_shape(layer, out);
        if (layer->parameters > 0) {
            mw__text_puts(out, out->size > 0 ? ", " : "");
            mw__put_count(out, (double)layer->parameters);
            mw__text_puts(out, " parameters");
        }
    }
}

void mw__draw_box_line(const mw__draw_box *box, int line, mw__text *out)
{
    if (box->kind == MW__BOX_LAYER) {
        put_layer_line(box, line, out);
    } else if (box->kind == MW__BOX_HIDDEN && line == 0) {
        mw__put_digits(out, box->hidden);
        mw__text_puts(out, " layers that are not shown");
    } else if (box->kind != MW__BOX_HIDDEN && line == 0) {
        mw__text_puts(out, box->kind == MW__BOX_FROM ? "from " : "");
        mw__text_puts(out, box->name);
    } else if (box->kind == MW__BOX_INPUT && line == 1) {
        put_shape(box->layer, out);
    }
}
