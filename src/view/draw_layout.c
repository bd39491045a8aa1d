/* Where boxes stand: in rows, so that arrows lead down; in an order along each row that crosses few arrows; and at
 * places that are as straight as the widths allow. Arrows that pass rows have a place in each of them, as boxes have.
 * source  Sugiyama, Tagawa and Toda 1981; places by isotonic regression (pool adjacent violators) of the means of their
 *         neighbors, row by row */
#include "base/text/error.h"
#include "view/draw.h"
#include "view/markup.h"

#include <string.h>

enum { LONG = 24, SWEEPS = 8, PAD = 12, GAP_X = 26, GAP_Y = 40, MARGIN = 24, LINE_HEIGHT = 15, BEND_WIDTH = 10 };

/* A box, or the place where an arrow passes a row. */
typedef struct node {
    uint32_t rank;
    uint32_t box; /* MW__VIEW_NONE: a bend */
    double width, x, wish, weight;
    uint32_t order; /* along its row */
} node;

typedef struct link {
    uint32_t from, to; /* nodes, of rows one behind the other */
} link;

typedef struct layout {
    mw__drawing *d;
    node *nodes;
    uint32_t node_count;
    link *links;
    uint32_t link_count;
    uint32_t *first_in, *in, *first_out, *out; /* neighbors by node */
    uint32_t *row_begin, *row;                 /* nodes of each row, in their order */
    double *pool_x, *pool_weight;
    uint32_t *pool_count;
} layout;

/* ---- rows ---- */

static void rank_boxes(mw__drawing *d)
{
    for (uint32_t i = 0; i < d->box_count; i++)
        d->boxes[i].rank = 0;
    for (uint32_t i = 0; i < d->arrow_count; i++) { /* sorted by where they lead */
        mw__draw_box *to = &d->boxes[d->arrows[i].to];
        const uint32_t rank = d->boxes[d->arrows[i].from].rank + 1;
        to->rank = rank > to->rank ? rank : to->rank;
    }
}

/* What only later rows read stands just above the first of them. */
static mw_status lower_inputs(mw__drawing *d)
{
    uint32_t *least = mw__arena_alloc(&d->arena, d->box_count + 1, sizeof *least, d->err);
    if (least == NULL)
        return MW_ERROR_MEMORY;
    for (uint32_t i = 0; i < d->arrow_count; i++) {
        const uint32_t rank = d->boxes[d->arrows[i].to].rank;
        uint32_t *own = &least[d->arrows[i].from];
        *own = *own == 0 || rank < *own ? rank : *own;
    }
    for (uint32_t i = 0; i < d->box_count; i++)
        if (d->boxes[i].kind == MW__BOX_INPUT && least[i] > 0)
            d->boxes[i].rank = least[i] - 1;
    return MW_OK;
}

/* Long arrows begin at a label. */
static mw_status shorten_arrows(mw__drawing *d)
{
    const uint32_t count = d->arrow_count;
    for (uint32_t i = 0; i < count; i++) {
        const mw__arrow arrow = d->arrows[i];
        const mw__draw_box *from = &d->boxes[arrow.from];
        const uint32_t rank = d->boxes[arrow.to].rank;
        if (rank - from->rank <= LONG)
            continue;
        mw__draw_box label = {.kind = MW__BOX_FROM, .name = from->name, .layer = from->layer, .fold = MW__VIEW_NONE};
        label.name = from->kind == MW__BOX_HIDDEN ? "what is not shown" : label.name;
        uint32_t index;
        MW_TRY(mw__draw_add_box(d, &label, &index));
        d->boxes[index].rank = rank - 1;
        d->arrows[i].from = index;
    }
    return MW_OK;
}

static void measure_box(mw__draw_box *box, mw__text *line)
{
    int lines = 0;
    size_t longest = 4;
    for (int i = 0; i < MW__BOX_LINES; i++) {
        line->size = 0;
        mw__text_puts(line, "");
        mw__draw_box_line(box, i, line);
        const size_t length = line->size > 0 ? mw__view_printable_length(line->data, MW__BOX_TEXT) : 0;
        lines += length > 0;
        longest = length > longest ? length : longest;
    }
    box->width = mw__view_text_width(longest, 12) + 2 * PAD;
    box->height = LINE_HEIGHT * lines + 10;
}

static mw_status measure_boxes(mw__drawing *d)
{
    mw__text line;
    mw__text_init(&line, d->summary->allocator);
    for (uint32_t i = 0; i < d->box_count; i++) {
        measure_box(&d->boxes[i], &line);
        d->rank_count = d->boxes[i].rank + 1 > d->rank_count ? d->boxes[i].rank + 1 : d->rank_count;
    }
    const mw_status status = mw__text_check(&line, d->err);
    mw__text_deinit(&line);
    return status;
}

/* ---- nodes ---- */

static uint32_t count_bends(const mw__drawing *d)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->arrow_count; i++)
        count += d->boxes[d->arrows[i].to].rank - d->boxes[d->arrows[i].from].rank - 1;
    return count;
}

static void add_arrow(layout *l, mw__arrow *arrow, uint32_t *bend)
{
    const uint32_t begin = l->d->boxes[arrow->from].rank, end = l->d->boxes[arrow->to].rank;
    uint32_t from = arrow->from;
    arrow->first = *bend;
    arrow->bends = end - begin - 1;
    for (uint32_t rank = begin + 1; rank < end; rank++) {
        const uint32_t index = l->d->box_count + (*bend)++;
        l->nodes[index] = (node){.rank = rank, .box = MW__VIEW_NONE, .width = BEND_WIDTH, .weight = 1};
        l->links[l->link_count++] = (link){from, index};
        from = index;
    }
    l->links[l->link_count++] = (link){from, arrow->to};
}

static mw_status make_nodes(layout *l)
{
    mw__drawing *d = l->d;
    const uint32_t bends = count_bends(d);
    l->node_count = d->box_count + bends;
    l->nodes = mw__arena_alloc(&d->arena, (size_t)l->node_count + 1, sizeof *l->nodes, d->err);
    l->links = mw__arena_alloc(&d->arena, (size_t)d->arrow_count + bends + 1, sizeof *l->links, d->err);
    d->bends = mw__arena_alloc(&d->arena, (size_t)bends + 1, sizeof *d->bends, d->err);
    if (l->nodes == NULL || l->links == NULL || d->bends == NULL)
        return MW_ERROR_MEMORY;
    for (uint32_t i = 0; i < d->box_count; i++)
        l->nodes[i] = (node){.rank = d->boxes[i].rank, .box = i, .width = d->boxes[i].width, .weight = 6};
    uint32_t bend = 0;
    for (uint32_t i = 0; i < d->arrow_count; i++)
        add_arrow(l, &d->arrows[i], &bend);
    return MW_OK;
}

/* Lists by node, as first[node] .. first[node + 1] in `list`. */
static mw_status index_links(layout *l, bool incoming, uint32_t **out_first, uint32_t **out_list)
{
    uint32_t *first = mw__arena_alloc(&l->d->arena, (size_t)l->node_count + 2, sizeof *first, l->d->err);
    uint32_t *list = mw__arena_alloc(&l->d->arena, (size_t)l->link_count + 1, sizeof *list, l->d->err);
    if (first == NULL || list == NULL)
        return MW_ERROR_MEMORY;
    for (uint32_t i = 0; i < l->link_count; i++)
        first[(incoming ? l->links[i].to : l->links[i].from) + 2]++;
    for (uint32_t i = 2; i < l->node_count + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < l->link_count; i++)
        list[first[(incoming ? l->links[i].to : l->links[i].from) + 1]++] =
            incoming ? l->links[i].from : l->links[i].to;
    *out_first = first;
    *out_list = list;
    return MW_OK;
}

static mw_status make_rows(layout *l)
{
    mw__drawing *d = l->d;
    l->row_begin = mw__arena_alloc(&d->arena, (size_t)d->rank_count + 2, sizeof *l->row_begin, d->err);
    l->row = mw__arena_alloc(&d->arena, (size_t)l->node_count + 1, sizeof *l->row, d->err);
    l->pool_x = mw__arena_alloc(&d->arena, (size_t)l->node_count + 1, sizeof *l->pool_x, d->err);
    l->pool_weight = mw__arena_alloc(&d->arena, (size_t)l->node_count + 1, sizeof *l->pool_weight, d->err);
    l->pool_count = mw__arena_alloc(&d->arena, (size_t)l->node_count + 1, sizeof *l->pool_count, d->err);
    if (l->row_begin == NULL || l->row == NULL || l->pool_x == NULL || l->pool_weight == NULL || l->pool_count == NULL)
        return MW_ERROR_MEMORY;
    for (uint32_t i = 0; i < l->node_count; i++)
        l->row_begin[l->nodes[i].rank + 2]++;
    for (uint32_t i = 2; i < d->rank_count + 2; i++)
        l->row_begin[i] += l->row_begin[i - 1];
    for (uint32_t i = 0; i < l->node_count; i++)
        l->row[l->row_begin[l->nodes[i].rank + 1]++] = i;
    for (uint32_t rank = 0; rank < d->rank_count; rank++)
        for (uint32_t i = l->row_begin[rank]; i < l->row_begin[rank + 1]; i++)
            l->nodes[l->row[i]].order = i - l->row_begin[rank];
    return MW_OK;
}

/* ---- order along a row ---- */

static void wish_order(layout *l, uint32_t index, bool downwards)
{
    const uint32_t *first = downwards ? l->first_in : l->first_out, *list = downwards ? l->in : l->out;
    node *n = &l->nodes[index];
    double sum = 0.0;
    for (uint32_t i = first[index]; i < first[index + 1]; i++)
        sum += l->nodes[list[i]].order;
    const uint32_t count = first[index + 1] - first[index];
    n->wish = count > 0 ? sum / count : n->order;
}

static void sort_row(layout *l, uint32_t rank, bool downwards)
{
    uint32_t *row = l->row + l->row_begin[rank];
    const uint32_t count = l->row_begin[rank + 1] - l->row_begin[rank];
    for (uint32_t i = 0; i < count; i++)
        wish_order(l, row[i], downwards);
    for (uint32_t i = 1; i < count; i++) { /* stable; rows are short, and nearly sorted after the first sweep */
        const uint32_t moved = row[i];
        uint32_t at = i;
        for (; at > 0 && l->nodes[row[at - 1]].wish > l->nodes[moved].wish; at--)
            row[at] = row[at - 1];
        row[at] = moved;
    }
    for (uint32_t i = 0; i < count; i++)
        l->nodes[row[i]].order = i;
}

static void order_rows(layout *l)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        const bool downwards = sweep % 2 == 0;
        for (uint32_t i = 1; i < l->d->rank_count; i++)
            sort_row(l, downwards ? i : l->d->rank_count - 1 - i, downwards);
    }
}

/* ---- places ---- */

static double distance(const node *a, const node *b) { return (a->width + b->width) / 2 + GAP_X; }

/* How much an arrow wants to be straight: most where it passes rows, more into the chain of boxes than out of a bend.
 */
static double pull(const node *a, const node *b)
{
    const int bends = (a->box == MW__VIEW_NONE) + (b->box == MW__VIEW_NONE);
    return bends == 2 ? 8.0 : bends == 1 ? 1.0 : 3.0;
}

enum { NEIGHBORS = 32 };

/* The median of the neighbors' places by weight: it makes arrows straight, where a mean would make all of them slant.
 */
static double median(const double *places, const double *weights, size_t count)
{
    double whole = 0.0, sum = 0.0;
    for (size_t i = 0; i < count; i++)
        whole += weights[i];
    for (size_t i = 0; i < count; i++) {
        sum += weights[i];
        if (sum > whole / 2)
            return places[i];
        if (sum == whole / 2 && i + 1 < count)
            return (places[i] + places[i + 1]) / 2;
    }
    return places[count - 1];
}

/* Of the neighbors in the row above (or below); more than NEIGHBORS are as good as those. */
static void wish_place(layout *l, uint32_t index, bool downwards)
{
    const uint32_t *first = downwards ? l->first_in : l->first_out, *list = downwards ? l->in : l->out;
    double places[NEIGHBORS], weights[NEIGHBORS];
    size_t count = 0;
    for (uint32_t i = first[index]; i < first[index + 1] && count < NEIGHBORS; i++) {
        const node *other = &l->nodes[list[i]];
        size_t at = count++;
        for (; at > 0 && places[at - 1] > other->x; at--) {
            places[at] = places[at - 1];
            weights[at] = weights[at - 1];
        }
        places[at] = other->x;
        weights[at] = pull(&l->nodes[index], other);
    }
    l->nodes[index].wish = count > 0 ? median(places, weights, count) : l->nodes[index].x;
}

/* The places nearest to the wishes that keep order and distances: isotonic regression of wish - offset. */
static void place_row(layout *l, uint32_t rank, bool downwards)
{
    const uint32_t begin = l->row_begin[rank], count = l->row_begin[rank + 1] - begin;
    uint32_t pools = 0;
    double offset = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        node *n = &l->nodes[l->row[begin + i]];
        wish_place(l, l->row[begin + i], downwards);
        offset += i > 0 ? distance(&l->nodes[l->row[begin + i - 1]], n) : 0.0;
        l->pool_x[pools] = n->wish - offset;
        l->pool_weight[pools] = n->weight;
        l->pool_count[pools++] = 1;
        for (; pools > 1 && l->pool_x[pools - 2] > l->pool_x[pools - 1]; pools--) {
            const double a = l->pool_weight[pools - 2], b = l->pool_weight[pools - 1];
            l->pool_x[pools - 2] = (a * l->pool_x[pools - 2] + b * l->pool_x[pools - 1]) / (a + b);
            l->pool_weight[pools - 2] = a + b;
            l->pool_count[pools - 2] += l->pool_count[pools - 1];
        }
    }
    offset = 0.0;
    for (uint32_t pool = 0, i = 0; pool < pools; pool++) {
        for (uint32_t k = 0; k < l->pool_count[pool]; k++, i++) {
            node *n = &l->nodes[l->row[begin + i]];
            offset += i > 0 ? distance(&l->nodes[l->row[begin + i - 1]], n) : 0.0;
            n->x = l->pool_x[pool] + offset;
        }
    }
}

static void place_nodes(layout *l)
{
    for (uint32_t rank = 0; rank < l->d->rank_count; rank++) {
        double x = 0.0;
        for (uint32_t i = l->row_begin[rank]; i < l->row_begin[rank + 1]; i++) {
            node *n = &l->nodes[l->row[i]];
            x += i > l->row_begin[rank] ? distance(&l->nodes[l->row[i - 1]], n) : 0.0;
            n->x = x;
        }
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (uint32_t rank = l->d->rank_count; rank-- > 0;)
            place_row(l, rank, false);
        for (uint32_t rank = 0; rank < l->d->rank_count; rank++)
            place_row(l, rank, true);
    }
}

/* ---- all ---- */

/* Into the picture: all of it is right of the margin, each row below the one before. */
static mw_status write_places(layout *l, double top)
{
    mw__drawing *d = l->d;
    double least = 0.0, most = 0.0, y = top;
    for (uint32_t i = 0; i < l->node_count; i++) {
        const double left = l->nodes[i].x - l->nodes[i].width / 2, right = l->nodes[i].x + l->nodes[i].width / 2;
        least = i == 0 || left < least ? left : least;
        most = i == 0 || right > most ? right : most;
    }
    for (uint32_t rank = 0; rank < d->rank_count; rank++) {
        double height = 0.0;
        for (uint32_t i = l->row_begin[rank]; i < l->row_begin[rank + 1]; i++)
            if (l->nodes[l->row[i]].box != MW__VIEW_NONE && d->boxes[l->nodes[l->row[i]].box].height > height)
                height = d->boxes[l->nodes[l->row[i]].box].height;
        for (uint32_t i = l->row_begin[rank]; i < l->row_begin[rank + 1]; i++) {
            const node *n = &l->nodes[l->row[i]];
            if (n->box == MW__VIEW_NONE) {
                d->bends[l->row[i] - d->box_count] = n->x - least + MARGIN;
                continue;
            }
            mw__draw_box *box = &d->boxes[n->box];
            box->x = n->x - n->width / 2 - least + MARGIN;
            box->y = y + (height - box->height) / 2;
        }
        y += height + GAP_Y;
    }
    d->width = most - least + 2 * MARGIN;
    d->height = y - (d->rank_count > 0 ? GAP_Y : 0) + MARGIN;
    return MW_OK;
}

mw_status mw__draw_lay_out(mw__drawing *d, double top)
{
    layout l = {.d = d};
    rank_boxes(d);
    MW_TRY(lower_inputs(d));
    MW_TRY(shorten_arrows(d));
    MW_TRY(measure_boxes(d));
    MW_TRY(make_nodes(&l));
    MW_TRY(index_links(&l, true, &l.first_in, &l.in));
    MW_TRY(index_links(&l, false, &l.first_out, &l.out));
    MW_TRY(make_rows(&l));
    order_rows(&l);
    place_nodes(&l);
    return write_places(&l, top);
}
