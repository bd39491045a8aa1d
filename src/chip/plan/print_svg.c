/* Draws a plan as an SVG picture. The upper part shows the layers over time: one lane for each engine, and a box
 * around the layers of each partition. The lower part shows memory over time: how many bytes of the working set and
 * of DRAM each value takes while it lives, in the color of its allocation. */
#include "base/file/file.h"
#include "base/number/float_mode.h"
#include "base/text/printable.h"
#include "chip/plan/print.h"

#include <string.h>

enum {
    WIDTH = 1280,
    LEFT = 96, /* of the axis of time */
    RIGHT = 1264,
    TOP = 100,
    LANE = 40,
    LANE_GAP = 8,
    CHIP_HEIGHT = 220,
    DRAM_HEIGHT = 110,
    ENGINES = 5,
    ALLOCATIONS = 9,
    LABEL = 40,  /* bytes of a label at most */
    LETTER = 7,  /* pixels of one in a box, about; of the small ones no more */
    TITLE = 240, /* bytes of what is shown when a box is pointed at */
    TICKS = 8
};

typedef struct drawing {
    const mw_chip_plan *plan;
    mw__text text;
    double scale; /* pixels of a us */
    double end_us;
    int lane_y[ENGINES]; /* -1: the engine has no layer */
    int lanes_end, chip_y, dram_y, height;
} drawing;

static const char *const allocation_colors[ALLOCATIONS] = {"#4c8ed9", "#8a8f98", "#3aa76d", "#7cc5a0", "#e0a030",
                                                           "#eec97a", "#b06ad0", "#d3a5e6", "#c0605a"};
static const char *const engine_colors[ENGINES] = {"#3f78bf", "#b8652a", "#8f55ad", "#2f8659", "#a84c46"};

/* ---- pieces ---- */

static void put_svg(drawing *d, const char *string) { mw__text_puts(&d->text, string); }

/* Names come from a program: markup in them is text, and controls are shown already. */
static void put_escaped(drawing *d, const char *string, size_t longest)
{
    char shown[TITLE];
    for (const char *c = mw__printable(shown, longest < sizeof shown ? longest : sizeof shown, string); *c != '\0';
         c++) {
        const char *entity = *c == '&'   ? "&amp;"
                             : *c == '<' ? "&lt;"
                             : *c == '>' ? "&gt;"
                             : *c == '"' ? "&quot;"
                                         : NULL;
        if (entity != NULL)
            put_svg(d, entity);
        else
            mw__text_append(&d->text, c, 1);
    }
}

static void put_pixels(drawing *d, const char *attribute, double value)
{
    mw__text_printf(&d->text, " %s=\"", attribute);
    mw__chip_plan_put_fixed(&d->text, value, 2);
    put_svg(d, "\"");
}

static void begin_text(drawing *d, double x, double y, const char *attributes)
{
    put_svg(d, "<text");
    put_pixels(d, "x", x);
    put_pixels(d, "y", y);
    mw__text_printf(&d->text, "%s%s>", attributes[0] != '\0' ? " " : "", attributes);
}

static void put_label(drawing *d, double x, double y, const char *attributes, const char *label)
{
    begin_text(d, x, y, attributes);
    put_escaped(d, label, TITLE);
    put_svg(d, "</text>\n");
}

static void begin_box(drawing *d, double x, double y, double width, double height)
{
    put_svg(d, "<rect");
    put_pixels(d, "x", x);
    put_pixels(d, "y", y);
    put_pixels(d, "width", width > 0.6 ? width : 0.6);
    put_pixels(d, "height", height > 0.6 ? height : 0.6);
}

static double x_of(const drawing *d, double us) { return LEFT + us * d->scale; }

static size_t digits(double number)
{
    size_t count = 1;
    for (; number >= 10 && count < 320; number /= 10)
        count++;
    return count;
}

/* Whether a text fits that begins 4 pixels behind the first edge and ends as many before the second. */
static bool has_room(size_t letters, double from, double to) { return (double)(letters * LETTER + 8) <= to - from; }

/* ---- where things stand ---- */

static void lay_out(drawing *d)
{
    const mw_chip_plan *plan = d->plan;
    bool used[ENGINES] = {false};
    int y = TOP + 20;
    d->end_us = 0;
    for (size_t i = 0; i < plan->layer_count; i++) {
        const mw_chip_layer *l = &plan->layers[i];
        used[l->engine] = true;
        d->end_us = l->start_us + l->time_us > d->end_us ? l->start_us + l->time_us : d->end_us;
    }
    d->scale = d->end_us > 0 ? (RIGHT - LEFT) / d->end_us : 1;
    for (int e = 0; e < ENGINES; e++) {
        d->lane_y[e] = used[e] ? y : -1;
        y += used[e] ? LANE + LANE_GAP : 0;
    }
    d->lanes_end = y;
    d->chip_y = y + 58;
    d->dram_y = d->chip_y + CHIP_HEIGHT + 34;
    d->height = (plan->totals.dram_bytes > 0 ? d->dram_y + DRAM_HEIGHT : d->chip_y + CHIP_HEIGHT) + 66;
}

static double begin_us(const drawing *d, size_t layer)
{
    return layer < d->plan->layer_count ? d->plan->layers[layer].start_us : 0;
}

static double finish_us(const drawing *d, size_t layer)
{
    if (layer >= d->plan->layer_count)
        return d->end_us;
    return d->plan->layers[layer].start_us + d->plan->layers[layer].time_us;
}

/* ---- head ---- */

static void put_style(drawing *d)
{
    mw__text_printf(&d->text,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
                    "font-size=\"12\">\n",
                    WIDTH, d->height);
    put_svg(
        d, "<style>.page{fill:#fff}text{fill:#23303c}.dim{fill:#5b6975}.in{fill:#fff}.on{fill:#0d1b26}.line{stroke:#"
           "9aa7b2;fill:none}"
           ".band{fill:#eef2f6}.part{fill:none;stroke:#456;stroke-dasharray:5 3}.cut{stroke:#c0605a;stroke-width:1.5}"
           "@media(prefers-color-scheme:dark){.page{fill:#14191e}text{fill:#dbe3ea}.dim{fill:#9aa7b2}.in{fill:#fff}.on{"
           "fill:#0d1b26}"
           ".band{fill:#1f2830}.line{stroke:#4d5a66}.part{stroke:#9ab}}</style>\n");
    mw__text_printf(&d->text, "<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", WIDTH, d->height);
}

static const char *plural(size_t count) { return count == 1 ? "" : "s"; }

static void put_head(drawing *d)
{
    const mw_chip_plan_totals *t = &d->plan->totals;
    begin_text(d, 16, 28, "font-size=\"18\" font-weight=\"bold\"");
    mw__text_printf(&d->text, "%s%s%s%s: %zu operations in %zu layers, %zu dispatch%s</text>\n", d->plan->chip->name,
                    d->plan->chip->product[0] != '\0' ? " (" : "", d->plan->chip->product,
                    d->plan->chip->product[0] != '\0' ? ")" : "", t->ops - t->constants, t->layers, t->segments,
                    t->segments == 1 ? "" : "es");
    begin_text(d, 16, 48, "class=\"dim\"");
    mw__text_printf(&d->text, "%zu partition%s, %zu split%s, %zu pair%s issued at once; weights ", t->partitions,
                    plural(t->partitions), t->splits, plural(t->splits), t->issued_pairs, plural(t->issued_pairs));
    mw__chip_plan_put_bytes(&d->text, t->weight_bytes);
    put_svg(d, ", values in and out of DRAM ");
    mw__chip_plan_put_bytes(&d->text, t->streamed_bytes);
    put_svg(d, "</text>\n");
    begin_text(d, 16, 64, "class=\"dim\"");
    put_svg(d, "Estimated ");
    mw__chip_plan_put_fixed(&d->text, d->end_us, 1);
    put_svg(d, " us of work and ");
    mw__chip_plan_put_fixed(&d->text, t->floor_us, 0);
    put_svg(d, " us for each dispatch. A model of what others published; nothing was measured.</text>\n");
}

/* A step of 1, 2 or 5 times a power of ten. */
static double tick_step(double span)
{
    double step = 0.001;
    for (int i = 0; span / step > TICKS && i < 60; i++)
        step *= i % 3 == 1 ? 2.5 : 2;
    return step;
}

static void put_axis(drawing *d, int y)
{
    const double step = tick_step(d->end_us);
    for (int i = 0; d->end_us > 0 && i * step <= d->end_us; i++) {
        const double x = x_of(d, i * step), half = (double)(digits(i * step) + 4) * LETTER / 2;
        put_svg(d, "<line class=\"line\"");
        put_pixels(d, "x1", x);
        put_pixels(d, "x2", x);
        mw__text_printf(&d->text, " y1=\"%d\" y2=\"%d\"/>\n", y, y + 5);
        begin_text(d, x + half < WIDTH ? x : WIDTH - half, y + 17,
                   "class=\"dim\" font-size=\"10\" text-anchor=\"middle\"");
        mw__chip_plan_put_fixed(&d->text, i * step, step < 1 ? 2 : 0);
        put_svg(d, i == 0 ? " us</text>\n" : "</text>\n");
    }
}

/* ---- layers ---- */

static void put_layer_title(drawing *d, size_t index)
{
    const mw_chip_plan *plan = d->plan;
    const mw_chip_layer *l = &plan->layers[index];
    mw__text_printf(&d->text, "<title>%zu %s ", index, l->kind);
    put_escaped(d, l->name != NULL ? l->name : "?", TITLE);
    put_svg(d, ", ");
    mw__chip_plan_put_fixed(&d->text, l->time_us, 2);
    mw__text_printf(&d->text, " us (%s)", l->bound == MW_CHIP_BOUND_COMPUTE ? "compute" : "bandwidth");
    for (size_t i = 0; i < l->op_count; i++) {
        mw__text_printf(&d->text, "\n%s: ", mw_chip_slot_name(plan->ops[l->ops[i]].slot));
        put_escaped(d, plan->ops[l->ops[i]].operation, LABEL);
    }
    put_svg(d, "</title>");
}

/* What is fused into a layer is written under its name: "conv + add + relu". */
static void put_layer_ops(drawing *d, const mw_chip_layer *l, double x, double y, size_t letters)
{
    size_t used = 0;
    begin_text(d, x, y, "class=\"in\" font-size=\"10\"");
    for (size_t i = 0; i < l->op_count; i++) {
        const char *operation = d->plan->ops[l->ops[i]].operation;
        used += strlen(operation) + (i > 0 ? 3 : 0);
        if (used > letters) {
            put_svg(d, i > 0 ? " .." : "..");
            break;
        }
        put_svg(d, i > 0 ? " + " : "");
        put_escaped(d, operation, LABEL);
    }
    put_svg(d, "</text>\n");
}

static void put_layer(drawing *d, size_t index)
{
    const mw_chip_layer *l = &d->plan->layers[index];
    const double x = x_of(d, l->start_us), width = l->time_us * d->scale;
    const int y = d->lane_y[l->engine];
    const size_t letters = (size_t)(width / LETTER);
    put_svg(d, "<g>");
    put_layer_title(d, index);
    begin_box(d, x, y, width - 0.5, LANE);
    mw__text_printf(&d->text, " rx=\"2\" fill=\"%s\"%s/>\n", engine_colors[l->engine],
                    l->multiplies ? "" : " fill-opacity=\"0.75\"");
    if (letters >= 7) {
        begin_text(d, x + 4, y + 16, "class=\"in\" font-size=\"11\"");
        put_escaped(d, l->kind, letters > LABEL ? LABEL : letters);
        if (l->tiles > 1 && letters > strlen(l->kind) + 8 + digits((double)l->tiles))
            mw__text_printf(&d->text, ", %zu tiles", l->tiles);
        put_svg(d, "</text>\n");
        put_layer_ops(d, l, x + 4, y + 31, letters);
    }
    put_svg(d, "</g>\n");
}

static void put_lanes(drawing *d)
{
    for (int e = 0; e < ENGINES; e++) {
        if (d->lane_y[e] < 0)
            continue;
        begin_box(d, LEFT, d->lane_y[e], RIGHT - LEFT, LANE);
        put_svg(d, " class=\"band\"/>\n");
        put_label(d, LEFT - 8, d->lane_y[e] + 24, "text-anchor=\"end\"", mw_chip_engine_name((mw_chip_engine)e));
    }
    for (size_t i = 0; i < d->plan->layer_count; i++)
        put_layer(d, i);
}

/* ---- partitions and segments ---- */

/* "partition 2, peak 1023.9 KB", or as much of it as there is room for. */
static void put_partition_label(drawing *d, size_t index, double from, double to)
{
    const size_t number = digits((double)index), whole = number + strlen("partition ");
    if (!has_room(number, from, to))
        return;
    begin_text(d, from + 4, TOP + 14, "class=\"dim\" font-size=\"10\"");
    mw__text_printf(&d->text, "%s%zu", has_room(whole, from, to) ? "partition " : "", index);
    if (has_room(whole + strlen(", peak 1.23 MB"), from, to)) {
        put_svg(d, ", peak ");
        mw__chip_plan_put_bytes(&d->text, d->plan->partitions[index].peak);
    }
    put_svg(d, "</text>\n");
}

static void put_partition(drawing *d, size_t index)
{
    const mw_chip_partition *part = &d->plan->partitions[index];
    if (part->layer_count == 0)
        return;
    const double from = x_of(d, begin_us(d, part->first_layer));
    const double to = x_of(d, finish_us(d, part->first_layer + part->layer_count - 1));
    put_svg(d, "<g>");
    mw__text_printf(&d->text, "<title>partition %zu: %zu layers, peak ", index, part->layer_count);
    mw__chip_plan_put_bytes(&d->text, part->peak);
    mw__text_printf(&d->text, ", %s</title>", part->closed_by->id);
    begin_box(d, from, TOP, to - from, d->lanes_end - TOP);
    put_svg(d, " rx=\"3\" class=\"part\"/>\n");
    put_partition_label(d, index, from, to);
    put_svg(d, "</g>\n");
}

/* "dispatch 2 (bridge)", or as much of it as there is room for before the next one. */
static void put_segment_label(drawing *d, size_t index, double x)
{
    const mw_chip_segment *s = &d->plan->segments[index];
    const double to = index + 1 < d->plan->segment_count ? x_of(d, begin_us(d, s[1].first_layer)) : WIDTH;
    const size_t number = digits((double)index + 1), whole = number + strlen("dispatch ");
    if (!has_room(number, x, to))
        return;
    begin_text(d, x + 4, TOP - 5, "class=\"dim\" font-size=\"10\"");
    mw__text_printf(&d->text, "%s%zu%s</text>\n", has_room(whole, x, to) ? "dispatch " : "", index + 1,
                    s->is_bridge && has_room(whole + strlen(" (bridge)"), x, to) ? " (bridge)" : "");
}

static void put_segment(drawing *d, size_t index)
{
    const mw_chip_segment *s = &d->plan->segments[index];
    const double x = x_of(d, begin_us(d, s->first_layer));
    put_svg(d, "<line class=\"cut\"");
    put_pixels(d, "x1", x);
    put_pixels(d, "x2", x);
    mw__text_printf(&d->text, " y1=\"%d\" y2=\"%d\"/>\n", TOP - 14, d->lanes_end);
    put_segment_label(d, index, x);
}

/* ---- memory ---- */

static void put_value(drawing *d, size_t index, double y, double pixels)
{
    const mw_chip_value *v = &d->plan->values[index];
    const double from = x_of(d, begin_us(d, v->first)), to = x_of(d, finish_us(d, v->last));
    const double top = y + (double)v->offset * pixels, height = (double)v->extent * pixels;
    put_svg(d, "<g><title>");
    put_escaped(d, v->name != NULL ? v->name : "?", TITLE);
    put_svg(d, " ");
    mw__chip_plan_put_bytes(&d->text, v->extent);
    mw__text_printf(&d->text, ", %d %s</title>", (int)v->allocation, mw_chip_allocation_name(v->allocation));
    begin_box(d, from, top, to - from - 0.3, height - 0.4);
    mw__text_printf(&d->text, " fill=\"%s\"/>\n", allocation_colors[v->allocation]);
    if (height > 11 && to - from > 40) {
        begin_text(d, from + 3, top + 10, "class=\"on\" font-size=\"9\"");
        put_escaped(d, v->name != NULL ? v->name : "?",
                    (size_t)((to - from) / LETTER) < LABEL ? (size_t)((to - from) / LETTER) : LABEL);
        put_svg(d, "</text>\n");
    }
    put_svg(d, "</g>\n");
}

static void put_memory(drawing *d, mw_chip_memory memory, const char *name, int y, int height, int64_t bytes)
{
    const double pixels = bytes > 0 ? height / (double)bytes : 0;
    begin_box(d, LEFT, y, RIGHT - LEFT, height);
    put_svg(d, " class=\"band\"/>\n");
    put_label(d, LEFT - 8, y + 14, "text-anchor=\"end\"", name);
    begin_text(d, LEFT - 8, y + 30, "class=\"dim\" font-size=\"10\" text-anchor=\"end\"");
    mw__chip_plan_put_bytes(&d->text, bytes);
    put_svg(d, "</text>\n");
    for (size_t i = 0; i < d->plan->value_count; i++)
        if (d->plan->values[i].memory == memory && d->plan->values[i].extent > 0)
            put_value(d, i, y, pixels);
}

/* In as many lines as they need: nine of three digits fill two. */
static void put_allocations(drawing *d, int y)
{
    double x = LEFT;
    for (int a = 0; a < ALLOCATIONS; a++) {
        size_t count = 0;
        for (size_t i = 0; i < d->plan->value_count; i++)
            count += (int)d->plan->values[i].allocation == a;
        if (count == 0)
            continue;
        const char *name = mw_chip_allocation_name((mw_chip_allocation)a);
        const double width = 14 + (double)(LETTER * (strlen(name) + digits((double)count) + strlen("0  ()")));
        const bool next = x + width > WIDTH;
        x = next ? LEFT : x;
        y += next ? 16 : 0;
        begin_box(d, x, y - 9, 10, 10);
        mw__text_printf(&d->text, " fill=\"%s\"/>\n", allocation_colors[a]);
        begin_text(d, x + 14, y, "font-size=\"11\"");
        mw__text_printf(&d->text, "%d %s (%zu)</text>\n", a, name, count);
        x += width + 10;
    }
}

static void put_memories(drawing *d)
{
    const mw_chip_plan_totals *t = &d->plan->totals;
    begin_text(d, LEFT, d->chip_y - 12, "class=\"dim\"");
    put_svg(d, "Memory by allocation. On chip at most ");
    mw__chip_plan_put_bytes(&d->text, t->on_chip_peak);
    put_svg(d, " of ");
    mw__chip_plan_put_bytes(&d->text, t->working_set);
    put_svg(d, " at once; a partition is closed at ");
    mw__chip_plan_put_bytes(&d->text, t->budget);
    put_svg(d, ".</text>\n");
    put_memory(d, MW_CHIP_MEMORY_ON_CHIP, "on chip", d->chip_y, CHIP_HEIGHT, t->on_chip_peak);
    if (t->dram_bytes > 0)
        put_memory(d, MW_CHIP_MEMORY_DRAM, "DRAM", d->dram_y, DRAM_HEIGHT, t->dram_bytes);
    put_allocations(d, d->height - 32);
}

/* ---- all of it ---- */

static void draw_plan(drawing *d)
{
    lay_out(d);
    put_style(d);
    put_head(d);
    put_lanes(d);
    for (size_t i = 0; i < d->plan->partition_count; i++)
        put_partition(d, i);
    for (size_t i = 0; i < d->plan->segment_count; i++)
        put_segment(d, i);
    put_axis(d, d->lanes_end + 4);
    put_memories(d);
    put_svg(d, "</svg>\n");
}

char *mw_chip_plan_print_svg(const mw_chip_plan *plan, mw_error *err)
{
    MW__FLOAT_SCOPE;
    drawing d = {.plan = plan};
    if (mw__skips(err) || mw__chip_plan_writes(plan, __func__, err) != MW_OK)
        return NULL;
    mw__text_init(&d.text, mw__allocator_default()); /* mw_string_free knows no other */
    draw_plan(&d);
    return mw__text_take(&d.text, err);
}

mw_status mw_chip_plan_write_svg(const mw_chip_plan *plan, const char *path, mw_error *err)
{
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (path == NULL && !mw__skips(err))
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the path is NULL", __func__);
    char *text = mw_chip_plan_print_svg(plan, err);
    if (text == NULL)
        return err->status;
    const mw_status status = mw__file_write(plan->allocator, path, text, strlen(text), false, err);
    mw_string_free(text);
    return status;
}
