/* Placements as data, as text and as JSON. */
#include "base/text/json_write.h"
#include "base/text/printable.h"
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

mw_chip_placement_totals mw_chip_placement_get_totals(const mw_chip_placement *p)
{
    return has(p) ? p->totals : (mw_chip_placement_totals){0};
}

const mw_chip_placed *mw_chip_placement_at(const mw_chip_placement *p, size_t index)
{
    return has(p) && index < p->totals.operation_count ? &p->operations[index] : NULL;
}

const mw_chip_placed_segment *mw_chip_placement_segment_at(const mw_chip_placement *p, size_t index)
{
    return has(p) && index < p->totals.segment_count ? &p->segments[index] : NULL;
}

/* ---- text ---- */

/* Doubles have a point in every locale. */
static void put_double(mw__text *text, const char *format, double value)
{
    char number[64];
    mw__printable_printf(number, sizeof number, format, value);
    mw__text_puts(text, number);
}

static void print_segment(mw__text *text, size_t index, const mw_chip_placed_segment *s)
{
    mw__text_printf(text, "segment %zu on the %s: %zu operation%s, ", index, mw_chip_backend_name(s->backend), s->count,
                    s->count == 1 ? "" : "s");
    put_double(text, "%.6g us and ", s->us);
    put_double(text, "%.6g to launch", s->launch_us);
    if (s->transfer_us > 0.0)
        put_double(text, ", %.6g to get there", s->transfer_us);
    mw__text_puts(text, "\n");
}

static void print_operation(mw__text *text, const mw_chip_placed *o)
{
    mw__text_puts(text, "    ");
    mw__text_show(text, o->operation, MW__PRINTABLE_NAME);
    mw__text_puts(text, " \"");
    mw__text_show(text, o->name, MW__PRINTABLE_NAME);
    mw__text_puts(text, "\": ");
    put_double(text, "%.6g us", o->cost.us);
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
    put_double(text, "%.6g us", t->us);
    if (t->output_us > 0.0)
        put_double(text, ", %.6g of them for the output", t->output_us);
    mw__text_puts(text, "\n");
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

enum { STRING_BYTES = 599 }; /* what is shown of one */

static void add_number(mw__json_writer *json, const char *key, double value)
{
    mw__json_add_key(json, key);
    put_double(&json->text, "%.9g", value);
}

/* null where it does not run. */
static void add_costs(mw__json_writer *json, const double us[MW_CHIP_BACKENDS])
{
    mw__json_open(json, "us_on", '{');
    for (unsigned b = 0; b < MW_CHIP_BACKENDS; b++) {
        if (us[b] >= 0.0)
            add_number(json, mw_chip_backend_name(b), us[b]);
        else
            mw__json_add_null(json, mw_chip_backend_name(b));
    }
    mw__json_close(json, '}');
}

static void add_segment(mw__json_writer *json, const mw_chip_placed_segment *s)
{
    mw__json_break(json);
    mw__json_open(json, NULL, '{');
    mw__json_add_string(json, "backend", mw_chip_backend_name(s->backend));
    mw__json_add_unsigned(json, "first", s->first);
    mw__json_add_unsigned(json, "count", s->count);
    add_number(json, "us", s->us);
    add_number(json, "launch_us", s->launch_us);
    add_number(json, "transfer_us", s->transfer_us);
    mw__json_close(json, '}');
}

static void add_operation(mw__json_writer *json, const mw_chip_placed *o)
{
    mw__json_break(json);
    mw__json_open(json, NULL, '{');
    mw__json_add_printable(json, "operation", o->operation, STRING_BYTES);
    mw__json_add_printable(json, "name", o->name, STRING_BYTES);
    mw__json_add_string(json, "backend", mw_chip_backend_name(o->backend));
    mw__json_add_unsigned(json, "segment", o->segment);
    add_number(json, "us", o->cost.us);
    mw__json_add_string(json, "bound", mw_chip_bound_name(o->cost.bound));
    add_number(json, "flops", o->cost.flops);
    mw__json_add_unsigned(json, "bytes", o->cost.bytes);
    add_costs(json, o->us);
    mw__json_add_printable(json, "reason", o->reason, STRING_BYTES);
    mw__json_add_printable(json, "refusal", o->refusal, STRING_BYTES);
    mw__json_add_printable(json, "message", o->message, STRING_BYTES);
    mw__json_close(json, '}');
}

static void write_placement(mw__text *text, const mw_chip_placement *p)
{
    const mw_chip_placement_totals *t = &p->totals;
    mw__json_writer json;
    mw__json_writer_init(&json, text->allocator, true);
    mw__json_open(&json, NULL, '{');
    mw__json_add_string(&json, "chip", p->chip->name);
    mw__json_add_string(&json, "segmenter", segmenters[p->segmenter]);
    mw__json_add_printable(&json, "form", t->form, STRING_BYTES);
    add_number(&json, "us", t->us);
    add_number(&json, "output_us", t->output_us);
    mw__json_break(&json);
    mw__json_open(&json, "segments", '[');
    for (size_t i = 0; i < t->segment_count; i++)
        add_segment(&json, &p->segments[i]);
    mw__json_close(&json, ']');
    mw__json_break(&json);
    mw__json_open(&json, "operations", '[');
    for (size_t i = 0; i < t->operation_count; i++)
        add_operation(&json, &p->operations[i]);
    mw__json_close(&json, ']');
    mw__json_close(&json, '}');
    mw__text_puts(&json.text, "\n");
    *text = json.text; /* which was empty */
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
    return mw__text_take(&text, err);
}

char *mw_chip_placement_print(const mw_chip_placement *p, mw_error *err)
{
    return make_text(p, print_placement, __func__, err);
}

char *mw_chip_placement_json(const mw_chip_placement *p, mw_error *err)
{
    return make_text(p, write_placement, __func__, err);
}
