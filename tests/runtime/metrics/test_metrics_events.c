/* Event files of TensorBoard, read by a decoder of the published formats that has nothing of the library: TFRecord
 * (tensorflow.org/tutorials/load_data/tfrecord), event.proto and summary.proto, CRC-32C bit by bit (RFC 3720). */
#include "base/number/crc32.h"
#include "runtime/files.h"
#include "support/check.h"
#include "support/folder.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char folder[512];

/* ---- the decoder ---- */

static uint32_t crc32c(const unsigned char *data, size_t size)
{
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 1) != 0 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
    }
    return ~crc;
}

static uint32_t mask(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

static uint64_t little(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = bytes; i > 0; i--)
        value = value << 8 | at[i - 1];
    return value;
}

typedef struct span {
    const unsigned char *at, *end;
} span;

static uint64_t varint(span *s)
{
    uint64_t value = 0;
    for (int shift = 0; s->at < s->end; shift += 7) {
        value |= (uint64_t)(*s->at & 0x7f) << shift;
        if ((*s->at++ & 0x80) == 0)
            break;
    }
    return value;
}

typedef struct field {
    int number;
    uint64_t value; /* of a varint or a fixed one */
    span bytes;
} field;

static bool next(span *s, field *out)
{
    if (s->at >= s->end)
        return false;
    const uint64_t key = varint(s);
    *out = (field){.number = (int)(key >> 3)};
    switch (key & 7) {
    case 0:
        out->value = varint(s);
        return true;
    case 1:
        out->value = little(s->at, 8);
        s->at += 8;
        return true;
    case 5:
        out->value = little(s->at, 4);
        s->at += 4;
        return true;
    default: {
        const uint64_t size = varint(s);
        out->bytes = (span){s->at, s->at + size};
        s->at += size;
        return s->at <= s->end && (key & 7) == 2;
    }
    }
}

enum { VALUES_MAX = 64 };

typedef struct value {
    int64_t step;
    double wall;
    char tag[100], text[200], plugin[20];
    float number;
} value;

typedef struct events {
    char version[40];
    int records, count;
    value values[VALUES_MAX];
} events;

static void copy(span bytes, char *out) { memcpy(out, bytes.at, (size_t)(bytes.end - bytes.at)); }

static void read_tensor(span tensor, value *out)
{
    for (field f; next(&tensor, &f);) {
        if (f.number == 1)
            CHECK_INT(f.value, 7); /* DT_STRING */
        if (f.number == 8)
            copy(f.bytes, out->text);
        field dim = {0}, size = {0};
        if (f.number == 2)
            CHECK(next(&f.bytes, &dim) && dim.number == 2 && next(&dim.bytes, &size) && size.number == 1 &&
                  size.value == 1);
    }
}

static void read_metadata(span metadata, value *out)
{
    field plugin, name;
    if (CHECK(next(&metadata, &plugin) && plugin.number == 1 && next(&plugin.bytes, &name) && name.number == 1))
        copy(name.bytes, out->plugin);
}

static void read_summary(span summary, const value *event, events *out)
{
    for (field f; next(&summary, &f) && out->count < VALUES_MAX;) {
        value *v = &out->values[out->count++];
        *v = *event;
        CHECK_INT(f.number, 1);
        for (field part; next(&f.bytes, &part);) {
            const uint32_t bits = (uint32_t)part.value;
            if (part.number == 1)
                copy(part.bytes, v->tag);
            if (part.number == 2)
                memcpy(&v->number, &bits, sizeof bits);
            if (part.number == 8)
                read_tensor(part.bytes, v);
            if (part.number == 9)
                read_metadata(part.bytes, v);
        }
    }
}

static void read_event(span event, events *out)
{
    value whole = {0};
    for (field f; next(&event, &f);) {
        if (f.number == 1)
            memcpy(&whole.wall, &f.value, sizeof f.value);
        if (f.number == 2)
            whole.step = (int64_t)f.value;
        if (f.number == 3)
            copy(f.bytes, out->version);
        if (f.number == 5)
            read_summary(f.bytes, &whole, out);
    }
}

static events read_events(const char *path)
{
    events out = {0};
    size_t size, at = 0;
    unsigned char *data = get_file(path, &size);
    while (data != NULL && at < size) {
        const uint64_t length = little(data + at, 8);
        if (!CHECK(length < size - at) || !CHECK_INT(little(data + at + 8, 4), mask(crc32c(data + at, 8))))
            break;
        CHECK_INT(little(data + at + 12 + length, 4), mask(crc32c(data + at + 12, length)));
        read_event((span){data + at + 12, data + at + 12 + length}, &out);
        at += length + 16;
        out.records++;
    }
    CHECK(at == size && size > 0);
    free(data);
    return out;
}

/* ---- tests ---- */

/* RFC 3720, B.4, and the check value of the catalog of parametrized CRC algorithms. */
static void test_the_sum_has_the_published_values(void)
{
    unsigned char data[32];
    mw__crc32_table table;
    mw__crc32c_init(&table);
    memset(data, 0, sizeof data);
    CHECK_INT(mw__crc32_add(&table, 0, data, 32), 0x8a9136aau);
    memset(data, 0xff, sizeof data);
    CHECK_INT(mw__crc32_add(&table, 0, data, 32), 0x62a8ab43u);
    for (int i = 0; i < 32; i++)
        data[i] = (unsigned char)i;
    CHECK_INT(mw__crc32_add(&table, 0, data, 32), 0x46dd794eu);
    for (int i = 0; i < 32; i++)
        data[i] = (unsigned char)(31 - i);
    CHECK_INT(mw__crc32_add(&table, 0, data, 32), 0x113fdb5cu);
    CHECK_INT(mw__crc32_add(&table, 0, "123456789", 9), 0xe3069283u);
    CHECK_INT(crc32c((const unsigned char *)"123456789", 9), 0xe3069283u);
}

static void write_some(mw_metrics *metrics, mw_error *err)
{
    const mw_metrics_field step[] = {{.name = "loss", .value = 0.1}, {.name = "norm/fc1", .value = (double)NAN}};
    mw_metrics_write(metrics, "run", 0, &(mw_metrics_field){.name = "device", .text = "the CPU"}, 1, err);
    mw_metrics_write(metrics, "step", 300, step, 2, err);
    mw_metrics_write(metrics, "epoch", 300, &(mw_metrics_field){.name = "validation/loss", .value = 1e300}, 1, err);
    mw_metrics_write(metrics, "step", 301, step, 1, err);
}

static void check_some(const events *e, int count)
{
    CHECK_STR(e->version, "brain.Event:2");
    CHECK_INT(e->count, count);
    CHECK_STR(e->values[0].tag, "run/device");
    CHECK_STR(e->values[0].text, "the CPU");
    CHECK_STR(e->values[0].plugin, "text");
    CHECK_INT(e->values[0].step, 0);
    CHECK_STR(e->values[1].tag, "loss");
    CHECK(e->values[1].number == 0.1f && e->values[1].step == 300 && e->values[1].plugin[0] == '\0');
    CHECK_STR(e->values[2].tag, "norm/fc1");
    CHECK(isnan(e->values[2].number));
    CHECK(fabs(e->values[1].wall - (double)time(NULL)) < 3600.0);
}

static void test_a_folder_gets_an_event_file(void)
{
    mw_error err = {0};
    mw_metrics *metrics = mw_metrics_create("board/", NULL, &err);
    REQUIRE(metrics != NULL);
    write_some(metrics, &err);
    mw_metrics_destroy(metrics);
    CHECK_OK(err);
    CHECK_INT(folder_count("board"), 1); /* TensorBoard takes all that has "tfevents" in its name */
    const events e = read_events("board/events.out.tfevents.0.millwright");
    check_some(&e, 5);
    CHECK_STR(e.values[3].tag, "epoch/validation/loss");
    CHECK(e.values[3].number == INFINITY && e.values[4].step == 301);
    metrics = mw_metrics_create("board", NULL, &err); /* it is there now, and begun anew */
    mw_metrics_destroy(metrics);
    CHECK_OK(err);
    CHECK_INT(read_events("board/events.out.tfevents.0.millwright").records, 1);
}

static void test_going_on_drops_later_events(void)
{
    mw_error err = {0};
    mw_metrics *metrics = mw_metrics_create("x.tfevents", NULL, &err);
    write_some(metrics, &err);
    mw_metrics_destroy(metrics);
    mw_metrics_options options = mw_metrics_defaults();
    options.resume = true;
    options.step = 300;
    mw_metrics_destroy(mw_metrics_create("x.tfevents", &options, &err));
    CHECK_OK(err);
    const events e = read_events("x.tfevents");
    check_some(&e, 4);
}

static void test_damage_is_said(void)
{
    mw_error err = {0};
    size_t size;
    mw_metrics *metrics = mw_metrics_create("d.tfevents", NULL, &err);
    write_some(metrics, &err);
    mw_metrics_destroy(metrics);
    CHECK_OK(err);
    unsigned char *data = get_file("d.tfevents", &size);
    const size_t first = (size_t)little(data, 8) + 16;
    for (size_t at = first; at < size; at++) {
        mw_metrics_options options = mw_metrics_defaults();
        options.resume = true;
        options.step = 400;
        data[at] ^= 4;
        put_file("d.tfevents", data, size);
        data[at] ^= 4;
        err = (mw_error){0};
        CHECK(mw_metrics_create("d.tfevents", &options, &err) == NULL);
        CHECK_ERROR(err, MW_ERROR_FORMAT, "byte");
    }
    free(data);
}

int main(void)
{
    if (!folder_enter(folder))
        return 1;
    RUN(test_the_sum_has_the_published_values);
    RUN(test_a_folder_gets_an_event_file);
    RUN(test_going_on_drops_later_events);
    RUN(test_damage_is_said);
    folder_leave(folder);
    return check_finish();
}
