/* Event files of TensorBoard. A record is TFRecord's (length, its sum, data, its sum; little endian, sums are masked
 * CRC-32C), its data a protobuf message of event.proto and summary.proto, of which this is all that is written:
 *
 *     Event   { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5;
 *               SourceMetadata { string writer = 1 } source_metadata = 10 }
 *     Summary { repeated Value { string tag = 1; float simple_value = 2; Tensor tensor = 8; Metadata metadata = 9 } = 1
 * } Tensor  { type = 1; Shape { Dim { size = 1 } = 2 } = 2; repeated bytes string_val = 8 } Metadata { Plugin { string
 * name = 1 } = 1 } */
#include "runtime/metrics/metrics.h"

#include <string.h>
#include <time.h>

enum { HEADER = 12, FOOTER = 4, DT_STRING = 7 };
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

#define VERSION "brain.Event:2"
#define WRITER  "millwright"

/* ---- protobuf ---- */

static void put_varint(mw__text *out, uint64_t value)
{
    char bytes[10];
    size_t count = 0;
    for (; value >= 128; value >>= 7)
        bytes[count++] = (char)(value | 128);
    bytes[count++] = (char)value;
    mw__text_append(out, bytes, count);
}

static void put_little(mw__text *out, uint64_t value, size_t bytes)
{
    char data[8];
    for (size_t i = 0; i < bytes; i++)
        data[i] = (char)(value >> 8 * i);
    mw__text_append(out, data, bytes);
}

static uint64_t get_little(const char *data, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)(unsigned char)data[i] << 8 * i;
    return value;
}

static void put_bytes(mw__text *out, int field, const void *data, size_t size)
{
    put_varint(out, (uint64_t)field << 3 | BYTES);
    put_varint(out, size);
    mw__text_append(out, data, size);
}

static void put_string(mw__text *out, int field, const char *string) { put_bytes(out, field, string, strlen(string)); }

/* Moves a finished message into the one around it. */
static void put_message(mw__text *out, int field, mw__text *inner)
{
    out->failed = out->failed || inner->failed;
    put_bytes(out, field, inner->data, inner->size);
    inner->size = 0;
}

/* ---- records ---- */

static uint32_t masked_sum(const mw_metrics *m, const void *data, size_t size)
{
    const uint32_t sum = mw__crc32_add(&m->crc, 0, data, size);
    return (sum >> 15 | sum << 17) + 0xa282ead8u;
}

static void put_record(const mw_metrics *m, mw__text *out, const mw__text *event)
{
    const size_t start = out->size;
    out->failed = out->failed || event->failed;
    put_little(out, event->size, 8);
    if (!out->failed)
        put_little(out, masked_sum(m, out->data + start, 8), 4);
    mw__text_append(out, event->data, event->size);
    put_little(out, masked_sum(m, event->data, event->size), 4);
}

static void put_time(mw__text *event)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    uint64_t bits;
    memcpy(&bits, &seconds, sizeof bits);
    put_varint(event, 1 << 3 | FIXED64);
    put_little(event, bits, 8);
}

static void put_version(mw__text *event)
{
    put_string(event, 3, VERSION);
    put_varint(event, 10 << 3 | BYTES);
    put_varint(event, 2 + strlen(WRITER));
    put_string(event, 1, WRITER);
}

static void begin_events(mw_metrics *m, mw__text *out)
{
    mw__text event;
    mw__text_init(&event, m->allocator);
    put_time(&event);
    put_version(&event);
    put_record(m, out, &event);
    mw__text_deinit(&event);
}

static void put_number(mw__text *value, double number)
{
    const float single = (float)number;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    put_varint(value, 2 << 3 | FIXED32);
    put_little(value, bits, 4);
}

/* What TensorBoard's text plugin shows: a tensor of one string. */
static void put_text(mw__text *value, const char *text)
{
    static const char shape[] = {2 << 3 | BYTES, 2, 1 << 3 | VARINT, 1};
    static const char plugin[] = "\x0a\x06\x0a\x04text";
    mw__text tensor;
    mw__text_init(&tensor, value->allocator);
    put_varint(&tensor, 1 << 3 | VARINT);
    put_varint(&tensor, DT_STRING);
    put_bytes(&tensor, 2, shape, sizeof shape);
    put_string(&tensor, 8, text);
    put_message(value, 8, &tensor);
    put_bytes(value, 9, plugin, sizeof plugin - 1);
    mw__text_deinit(&tensor);
}

/* A tag is the name; of all but steps with the kind before it. */
static void put_tag(mw__text *value, const mw__metrics_record *r, const char *name)
{
    const bool is_step = strcmp(r->kind, "step") == 0;
    const size_t kind = is_step ? 0 : strlen(r->kind) + 1;
    put_varint(value, 1 << 3 | BYTES);
    put_varint(value, kind + strlen(name));
    if (!is_step) {
        mw__text_puts(value, r->kind);
        mw__text_puts(value, "/");
    }
    mw__text_puts(value, name);
}

static mw_status put_event_record(mw_metrics *m, const mw__metrics_record *r, mw__text *out, mw_error *err)
{
    mw__text event, summary, value;
    mw__text_init(&event, m->allocator);
    mw__text_init(&summary, m->allocator);
    mw__text_init(&value, m->allocator);
    for (size_t i = 0; i < r->count; i++) {
        put_tag(&value, r, r->fields[i].name);
        if (r->fields[i].text != NULL)
            put_text(&value, r->fields[i].text);
        else
            put_number(&value, r->fields[i].value);
        put_message(&summary, 1, &value);
    }
    put_time(&event);
    put_varint(&event, 2 << 3 | VARINT);
    put_varint(&event, (uint64_t)r->step);
    put_message(&event, 5, &summary);
    const mw_status status = mw__text_check(&event, err);
    if (status == MW_OK)
        put_record(m, out, &event);
    mw__text_deinit(&value);
    mw__text_deinit(&summary);
    mw__text_deinit(&event);
    return status;
}

/* ---- going on ---- */

/* The first record, whose time differs. */
static bool is_ours(const mw_metrics *m, const char *data, size_t size)
{
    mw__text version;
    mw__text_init(&version, m->allocator);
    put_version(&version);
    const size_t start = HEADER + 9;
    const bool ours = !version.failed && size >= start + version.size && get_little(data, 8) == 9 + version.size &&
                      memcmp(data + start, version.data, version.size) == 0;
    mw__text_deinit(&version);
    return ours;
}

typedef struct reading {
    const char *at, *end;
} reading;

static bool get_varint(reading *r, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; r->at < r->end && shift < 64; shift += 7) {
        const unsigned char byte = (unsigned char)*r->at++;
        *out |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

/* The next field: a number, or bytes (fixed ones, too). */
static bool get_field(reading *r, int *out_field, uint64_t *out_number, reading *out_bytes)
{
    uint64_t key, size = 0;
    *out_number = 0;
    if (!get_varint(r, &key))
        return false;
    *out_field = (int)(key >> 3 & 0x1fffffff);
    const int wire = (int)(key & 7);
    if (wire == VARINT)
        return get_varint(r, out_number);
    if (wire == BYTES ? !get_varint(r, &size) : wire != FIXED64 && wire != FIXED32)
        return false;
    size = wire == FIXED64 ? 8 : wire == FIXED32 ? 4 : size;
    if (size > (uint64_t)(r->end - r->at))
        return false;
    *out_bytes = (reading){r->at, r->at + size};
    r->at += size;
    return true;
}

/* The bytes of the first such field in a message; false if there is none. */
static bool find_bytes(reading message, int wanted, reading *out)
{
    int field = 0;
    uint64_t number;
    reading bytes = {NULL, NULL};
    while (message.at < message.end && get_field(&message, &field, &number, &bytes))
        if (field == wanted && bytes.at != NULL) {
            *out = bytes;
            return true;
        }
    return false;
}

static int64_t step_of(reading message)
{
    int field = 0;
    uint64_t number;
    reading bytes;
    while (message.at < message.end && get_field(&message, &field, &number, &bytes))
        if (field == 2)
            return (int64_t)number;
    return 0;
}

/* The kind is before the first "/" of a tag, if it is none of a step. */
static bool stays(const mw__metrics_cut *cut, reading event)
{
    reading summary, value, tag = {"", NULL};
    const int64_t step = step_of(event);
    size_t length = 0;
    if (find_bytes(event, 5, &summary) && find_bytes(summary, 1, &value) && find_bytes(value, 1, &tag)) {
        const char *slash = memchr(tag.at, '/', (size_t)(tag.end - tag.at));
        length = slash != NULL ? (size_t)(slash - tag.at) : 0;
    }
    return mw__metrics_stays(cut, tag.at, length, step);
}

static mw_status keep_events(mw_metrics *m, const char *data, size_t size, const mw__metrics_cut *cut, mw__text *out,
                             mw_error *err)
{
    for (size_t at = 0; size - at >= HEADER;) {
        const uint64_t length = get_little(data + at, 8);
        if (get_little(data + at + 8, 4) != masked_sum(m, data + at, 8))
            return mw__fail(err, MW_ERROR_FORMAT, "metrics: \"%.300s\": no record at byte %zu", m->path, at);
        if (length > size - at - HEADER || FOOTER > size - at - HEADER - length)
            break; /* torn */
        const char *event = data + at + HEADER;
        if (get_little(event + length, 4) != masked_sum(m, event, (size_t)length))
            return mw__fail(err, MW_ERROR_FORMAT, "metrics: \"%.300s\": the record at byte %zu is damaged", m->path,
                            at);
        const size_t whole = HEADER + (size_t)length + FOOTER;
        if (stays(cut, (reading){event, event + length}))
            mw__text_append(out, data + at, whole);
        at += whole;
    }
    return MW_OK;
}

const mw__metrics_row mw__metrics_events = {
    .name = "event file", .begin = begin_events, .is_ours = is_ours, .keep = keep_events, .put = put_event_record};
