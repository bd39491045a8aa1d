/* Placements as data, as text and as JSON. */
#include "base/text/shown.h"
#include "chip/place.h"

static const char *const segmenters[] = {"coarse", "graph", "shortest_path"};

static bool has(const mw_chip_placement *p) { return mw__live_has(p, MW__LIVE_CHIP_PLACEMENT); }

void mw_chip_placement_destroy(mw_chip_placement *p)
{
    if (p == NULL || !mw__live_remove(p, MW__LIVE_CHIP_PLACEMENT, __func__))
        return;
    const mw_allocator *allocator = p->allocator;
    mw__arena_deinit(&p->arena);
    mw__free(allocator, p);
}

mw_chip_placement_totals mw_chip_placement_total(const mw_chip_placement *p)
{
    return has(p) ? p->totals : (mw_chip_placement_totals){0};
}

const mw_chip_placed *mw_chip_placed_at(const mw_chip_placement *p, size_t index)
{
    return has(p) && index < p->totals.operation_count ? &p->operations[index] : NULL;
}

const mw_chip_placed_segment *mw_chip_placed_segment_at(const mw_chip_placement *p, size_t index)
{
    return has(p) && index < p->totals.segment_count ? &p->segments[index] : NULL;
}

/* ---- text ---- */

/* Doubles have a point in every locale. */
static void put(mw__text *text, const char *format, double value)
{
    char number[64];
    mw__shown_printf(number, sizeof number, format, value);
    mw__text_puts(text, number);
}

static void print_segment(mw__text *text, size_t index, const mw_chip_placed_segment *s)
{
    mw__text_printf(text, "segment %zu on the %s: %zu operation%s, ", index, mw_chip_backend_name(s->backend), s->count,
                    s->count == 1 ? "" : "s");
    put(text, "%.6g us and ", s->us);
    put(text, "%.6g to launch", s->launch_us);
    if (s->transfer_us > 0.0)
        put(text, ", %.6g to get there", s->transfer_us);
    mw__text_puts(text, "\n");
}

static void print_operation(mw__text *text, const mw_chip_placed *o)
{
    mw__text_puts(text, "    ");
    mw__text_show(text, o->operation, MW__SHOWN_NAME);
    mw__text_puts(text, " \"");
    mw__text_show(text, o->name, MW__SHOWN_NAME);
    mw__text_puts(text, "\": ");
    put(text, "%.6g us", o->cost.us);
    mw__text_printf(text, " (%s), %s\n", mw_chip_bound_name(o->cost.bound), o->reason);
    if (o->refusal != NULL) {
        mw__text_printf(text, "        not on the ane: rule %s, ", o->refusal);
        mw__text_show(text, o->message, 512);
        mw__text_puts(text, "\n");
    }
}

static void print_placement(mw__text *text, const mw_chip_placement *p)
{
    const mw_chip_placement_totals *t = &p->totals;
    mw__text_printf(text, "%s, %s: %zu operation%s in %zu segment%s, ", p->chip->name, segmenters[p->segmenter],
                    t->operation_count, t->operation_count == 1 ? "" : "s", t->segment_count,
                    t->segment_count == 1 ? "" : "s");
    put(text, "%.6g us\n", t->us);
    if (t->form != NULL) {
        mw__text_puts(text, "as it stands, for it has no form of the chip's: ");
        mw__text_show(text, t->form, 512);
        mw__text_puts(text, "\n");
    }
    for (size_t s = 0; s < t->segment_count; s++) {
        print_segment(text, s, &p->segments[s]);
        for (size_t i = 0; i < p->segments[s].count; i++)
            print_operation(text, &p->operations[p->segments[s].first + i]);
    }
}

/* ---- JSON ---- */

/* What is shown holds no control character, so that quotes and backslashes are all that JSON wants escaped. */
static void put_string(mw__text *text, const char *key, const char *string)
{
    char shown[600];
    mw__text_printf(text, "\"%s\":", key);
    if (string == NULL) {
        mw__text_puts(text, "null");
        return;
    }
    mw__text_puts(text, "\"");
    for (const char *c = mw__shown(shown, sizeof shown, string); *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            mw__text_puts(text, "\\");
        mw__text_append(text, c, 1);
    }
    mw__text_puts(text, "\"");
}

static void put_number(mw__text *text, const char *key, double value)
{
    mw__text_printf(text, "\"%s\":", key);
    put(text, "%.9g", value);
}

/* null where it does not run. */
static void put_costs(mw__text *text, const double us[MW_CHIP_BACKENDS])
{
    mw__text_puts(text, ",\"us_on\":{");
    for (unsigned b = 0; b < MW_CHIP_BACKENDS; b++) {
        mw__text_puts(text, b > 0 ? "," : "");
        if (us[b] >= 0.0)
            put_number(text, mw_chip_backend_name(b), us[b]);
        else
            mw__text_printf(text, "\"%s\":null", mw_chip_backend_name(b));
    }
    mw__text_puts(text, "}");
}

static void write_segment(mw__text *text, const mw_chip_placed_segment *s)
{
    mw__text_printf(text, "{\"backend\":\"%s\",\"first\":%zu,\"count\":%zu,", mw_chip_backend_name(s->backend),
                    s->first, s->count);
    put_number(text, "us", s->us);
    mw__text_puts(text, ",");
    put_number(text, "launch_us", s->launch_us);
    mw__text_puts(text, ",");
    put_number(text, "transfer_us", s->transfer_us);
    mw__text_puts(text, "}");
}

static void write_operation(mw__text *text, const mw_chip_placed *o)
{
    mw__text_puts(text, "{");
    put_string(text, "operation", o->operation);
    mw__text_puts(text, ",");
    put_string(text, "name", o->name);
    mw__text_printf(text, ",\"backend\":\"%s\",\"segment\":%zu,", mw_chip_backend_name(o->backend), o->segment);
    put_number(text, "us", o->cost.us);
    mw__text_printf(text, ",\"bound\":\"%s\",", mw_chip_bound_name(o->cost.bound));
    put_number(text, "flops", o->cost.flops);
    mw__text_printf(text, ",\"bytes\":%llu", (unsigned long long)o->cost.bytes);
    put_costs(text, o->us);
    mw__text_puts(text, ",");
    put_string(text, "reason", o->reason);
    mw__text_puts(text, ",");
    put_string(text, "refusal", o->refusal);
    mw__text_puts(text, ",");
    put_string(text, "message", o->message);
    mw__text_puts(text, "}");
}

static void write_placement(mw__text *text, const mw_chip_placement *p)
{
    const mw_chip_placement_totals *t = &p->totals;
    mw__text_printf(text, "{\"chip\":\"%s\",\"segmenter\":\"%s\",", p->chip->name, segmenters[p->segmenter]);
    put_string(text, "form", t->form);
    mw__text_puts(text, ",");
    put_number(text, "us", t->us);
    mw__text_puts(text, ",\n\"segments\":[");
    for (size_t i = 0; i < t->segment_count; i++) {
        mw__text_puts(text, i > 0 ? ",\n" : "\n");
        write_segment(text, &p->segments[i]);
    }
    mw__text_puts(text, "],\n\"operations\":[");
    for (size_t i = 0; i < t->operation_count; i++) {
        mw__text_puts(text, i > 0 ? ",\n" : "\n");
        write_operation(text, &p->operations[i]);
    }
    mw__text_puts(text, "]}\n");
}

/* ---- both ---- */

static char *make_text(const mw_chip_placement *p, void (*write)(mw__text *, const mw_chip_placement *),
                       const char *call, mw_error *err)
{
    mw__text text;
    if (mw__skips(err))
        return NULL;
    if (p == NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "%s: the placement is NULL", call);
        return NULL;
    }
    if (mw__live_check(p, MW__LIVE_CHIP_PLACEMENT, call, err) != MW_OK)
        return NULL;
    mw__text_init(&text, mw__allocator_default()); /* mw_string_free knows no other */
    write(&text, p);
    if (mw__text_check(&text, err) == MW_OK)
        return text.data;
    mw__text_deinit(&text);
    return NULL;
}

char *mw_chip_placement_print(const mw_chip_placement *p, mw_error *err)
{
    return make_text(p, print_placement, __func__, err);
}

char *mw_chip_placement_json(const mw_chip_placement *p, mw_error *err)
{
    return make_text(p, write_placement, __func__, err);
}
