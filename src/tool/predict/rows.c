/* Rows of predictions, and the formats they are written in. */
#include "tool/predict/rows.h"

#include "base/number/number.h"
#include "base/text/error.h"
#include "base/text/printable.h"
#include "base/text/string.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER = 1 << 16, NAME_BYTES = 280 };

typedef struct rows_format {
    const char *ending;
    void (*begin)(rows *r);
    void (*add)(rows *r, const rows_row *row);
    void (*finish)(rows *r);
} rows_format;

/* ---- what a row says ---- */

static const float *sorted_numbers; /* of compare_numbers: qsort has no argument for it */

/* The largest first; of equal ones the first. */
static int compare_numbers(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    const float p = sorted_numbers[x], q = sorted_numbers[y];
    return p != q ? (p < q) - (p > q) : (x > y) - (x < y);
}

static int64_t top_of(const rows *r) { return r->settings.top < r->answer->width ? r->settings.top : r->answer->width; }

/* r->order: all by their numbers, or the first few of many. */
static void sort_numbers(rows *r, const float *numbers)
{
    const int64_t width = r->answer->width, top = top_of(r);
    for (int64_t i = 0; i < width; i++)
        r->order[i] = i;
    sorted_numbers = numbers;
    if (top > 8) {
        qsort(r->order, (size_t)width, sizeof *r->order, compare_numbers);
        return;
    }
    for (int64_t k = 0; k < top; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < width; i++)
            best = compare_numbers(&r->order[i], &r->order[best]) < 0 ? i : best;
        const int64_t first = r->order[best];
        memmove(&r->order[k + 1], &r->order[k], (size_t)(best - k) * sizeof *r->order);
        r->order[k] = first;
    }
}

/* Six digits, as floats are worth showing; the same in every locale. */
static const char *print_float(char out[MW__NUMBER_MAX], float number)
{
    mw__number_print_float(out, number);
    return out;
}

/* Yes from 1/2 on. */
static bool is_yes(const rows *r, const float *numbers, int64_t index)
{
    return r->answer->task == ANSWER_LABELS && numbers[index] >= 0.5f;
}

/* ---- CSV ---- */

/* In quotes where it has to be. */
static void put_cell(rows *r, const char *text)
{
    if (text[strcspn(text, ",\"\r\n")] == '\0' && text[0] != ' ') {
        mw__text_puts(&r->text, text);
        return;
    }
    mw__text_puts(&r->text, "\"");
    for (const char *at = text; *at != '\0'; at++)
        mw__text_append(&r->text, *at == '"' ? "\"\"" : at, *at == '"' ? 2 : 1);
    mw__text_puts(&r->text, "\"");
}

static void put_name(rows *r, int64_t index, const char *before)
{
    char number[NAME_BYTES], whole[2 * NAME_BYTES];
    const char *name = answer_name(r->answer, index, number, sizeof number);
    mw__text_puts(&r->text, ",");
    if (before[0] == '\0') {
        put_cell(r, name);
        return;
    }
    snprintf(whole, sizeof whole, "%s%.500s", before, name);
    put_cell(r, whole);
}

static void begin_csv(rows *r)
{
    const answer *a = r->answer;
    mw__text_puts(&r->text, "id");
    for (int64_t k = 0; a->task == ANSWER_CLASSES && k < top_of(r); k++)
        if (k == 0)
            mw__text_puts(&r->text, ",class,probability");
        else
            mw__text_printf(&r->text, ",class_%lld,probability_%lld", (long long)k + 1, (long long)k + 1);
    if (a->task == ANSWER_LABELS)
        mw__text_puts(&r->text, ",labels");
    for (int64_t i = 0; (a->task != ANSWER_CLASSES || r->settings.all) && i < a->width; i++)
        put_name(r, i, a->task == ANSWER_VALUES ? "" : "p_");
    mw__text_puts(&r->text, "\n");
}

static void put_number(rows *r, float number)
{
    char text[MW__NUMBER_MAX];
    mw__text_puts(&r->text, ",");
    mw__text_puts(&r->text, print_float(text, number));
}

/* Those that are yes, with | between them. */
static void put_labels(rows *r, const float *numbers)
{
    char number[NAME_BYTES];
    mw__text labels;
    mw__text_init(&labels, mw__allocator_or_default(NULL));
    mw__text_puts(&labels, "");
    for (int64_t i = 0; i < r->answer->width; i++) {
        if (!is_yes(r, numbers, i))
            continue;
        mw__text_puts(&labels, labels.size > 0 ? "|" : "");
        mw__text_puts(&labels, answer_name(r->answer, i, number, sizeof number));
    }
    mw__text_puts(&r->text, ",");
    if (labels.failed)
        mw__fail(r->err, MW_ERROR_MEMORY, "there is no memory for the labels of a row");
    else if (labels.data != NULL)
        put_cell(r, labels.data);
    mw__text_deinit(&labels);
}

static void add_csv(rows *r, const rows_row *row)
{
    const answer *a = r->answer;
    put_cell(r, row->name);
    for (int64_t k = 0; a->task == ANSWER_CLASSES && k < top_of(r); k++) {
        put_name(r, r->order[k], "");
        put_number(r, row->numbers[r->order[k]]);
    }
    if (a->task == ANSWER_LABELS)
        put_labels(r, row->numbers);
    for (int64_t i = 0; (a->task != ANSWER_CLASSES || r->settings.all) && i < a->width; i++)
        put_number(r, row->numbers[i]);
    mw__text_puts(&r->text, "\n");
}

/* ---- JSON ---- */

static void put_json_class(rows *r, mw__json_writer *json, const float *numbers, int64_t index)
{
    char number[NAME_BYTES];
    mw__json_add_string(json, "class", answer_name(r->answer, index, number, sizeof number));
    mw__json_add_number(json, "probability", (double)numbers[index]);
}

static void put_json_top(rows *r, mw__json_writer *json, const float *numbers)
{
    put_json_class(r, json, numbers, r->order[0]);
    if (top_of(r) < 2)
        return;
    mw__json_open(json, "top", '[');
    for (int64_t k = 0; k < top_of(r); k++) {
        mw__json_open(json, NULL, '{');
        put_json_class(r, json, numbers, r->order[k]);
        mw__json_close(json, '}');
    }
    mw__json_close(json, ']');
}

static void put_json_labels(rows *r, mw__json_writer *json, const float *numbers)
{
    char number[NAME_BYTES];
    mw__json_open(json, "labels", '[');
    for (int64_t i = 0; i < r->answer->width; i++)
        if (is_yes(r, numbers, i))
            mw__json_add_string(json, NULL, answer_name(r->answer, i, number, sizeof number));
    mw__json_close(json, ']');
}

static void put_json_row(rows *r, mw__json_writer *json, const rows_row *row)
{
    char number[NAME_BYTES];
    const answer *a = r->answer;
    mw__json_open(json, NULL, '{');
    mw__json_add_string(json, "id", row->name);
    if (a->task == ANSWER_CLASSES)
        put_json_top(r, json, row->numbers);
    else if (a->task == ANSWER_LABELS)
        put_json_labels(r, json, row->numbers);
    if (a->task != ANSWER_CLASSES || r->settings.all) {
        mw__json_open(json, a->task == ANSWER_VALUES ? "values" : "probabilities", '{');
        for (int64_t i = 0; i < a->width; i++)
            mw__json_add_number(json, answer_name(a, i, number, sizeof number), (double)row->numbers[i]);
        mw__json_close(json, '}');
    }
    mw__json_close(json, '}');
}

static void begin_nothing(rows *r) { (void)r; }

static void finish_nothing(rows *r) { (void)r; }

static void add_jsonl(rows *r, const rows_row *row)
{
    mw__json_writer_init(&r->json, mw__allocator_or_default(NULL), false);
    r->json.style = MW__JSON_VALID;
    put_json_row(r, &r->json, row);
    if (r->json.text.failed)
        mw__fail(r->err, MW_ERROR_MEMORY, "there is no memory for a row");
    else
        mw__text_append(&r->text, r->json.text.data, r->json.text.size);
    mw__text_puts(&r->text, "\n");
    mw__json_writer_deinit(&r->json);
}

static void begin_json(rows *r) { mw__json_open(r->out, "rows", '['); }

static void add_json(rows *r, const rows_row *row)
{
    if (r->count < r->settings.most)
        put_json_row(r, r->out, row);
}

static void finish_json(rows *r) { mw__json_close(r->out, ']'); }

/* ---- a terminal ---- */

static void say_class(rows *r, const float *numbers, int64_t index)
{
    char number[NAME_BYTES];
    tool_print("  %6.4f ", (double)numbers[index]);
    tool_show(answer_name(r->answer, index, number, sizeof number));
}

static void say_numbers(rows *r, const float *numbers)
{
    enum { SAID_MAX = 8 };
    char number[NAME_BYTES], text[MW__NUMBER_MAX];
    for (int64_t i = 0; i < r->answer->width && i < SAID_MAX; i++) {
        tool_puts("  ");
        tool_show(answer_name(r->answer, i, number, sizeof number));
        tool_print(" %s", print_float(text, numbers[i]));
    }
    tool_puts(r->answer->width > SAID_MAX ? "  .." : "");
}

static void add_text(rows *r, const rows_row *row)
{
    if (r->count >= r->settings.most)
        return;
    tool_show(row->name);
    for (int64_t k = 0; r->answer->task == ANSWER_CLASSES && k < top_of(r); k++)
        say_class(r, row->numbers, r->order[k]);
    if (r->answer->task != ANSWER_CLASSES)
        say_numbers(r, row->numbers);
    tool_puts("\n");
}

static void finish_text(rows *r)
{
    if (r->count > r->settings.most)
        tool_print(".. and %lld more; --out FILE takes all, %s\n", (long long)(r->count - r->settings.most),
                   ROWS_ENDINGS);
}

/* ---- arrays ---- */

static void add_array(rows *r, const rows_row *row)
{
    const size_t width = (size_t)r->answer->width, used = (size_t)r->count * width;
    if (used + width > r->capacity) {
        const size_t capacity = used + width > 2 * r->capacity ? used + width : 2 * r->capacity;
        float *wider = capacity <= SIZE_MAX / sizeof *wider ? realloc(r->kept, capacity * sizeof *wider) : NULL;
        if (wider == NULL) {
            mw__fail(r->err, MW_ERROR_MEMORY, "there is no memory for %zu numbers; .csv and .jsonl need none",
                     capacity);
            return;
        }
        r->kept = wider;
        r->capacity = capacity;
    }
    memcpy(r->kept + used, row->numbers, width * sizeof *row->numbers);
}

/* "classes" [N], the likeliest of each, and "probabilities" or "values" [N, width]. */
static void finish_array(rows *r)
{
    const int64_t width = r->answer->width;
    int64_t *classes = malloc(((size_t)r->count + 1) * sizeof *classes);
    for (int64_t i = 0; classes != NULL && r->answer->task == ANSWER_CLASSES && i < r->count; i++) {
        const float *row = r->kept + i * width;
        classes[i] = 0;
        for (int64_t k = 1; k < width; k++)
            classes[i] = row[k] > row[classes[i]] ? k : classes[i];
    }
    const mw_tensor_values values[] = {
        {r->answer->task == ANSWER_VALUES ? "values" : "probabilities", MW_F32, MW_SHAPE(r->count, width), r->kept},
        {"classes", MW_I64, MW_SHAPE(r->count), classes}};
    if (classes == NULL)
        mw__fail(r->err, MW_ERROR_MEMORY, "there is no memory for %lld rows", (long long)r->count);
    else
        mw_tensors_write(r->path, values, r->answer->task == ANSWER_CLASSES ? 2 : 1, r->err);
    free(classes);
}

/* ---- the formats ---- */

static const rows_format formats[] = {
    {".csv", begin_csv, add_csv, finish_nothing},
    {".jsonl", begin_nothing, add_jsonl, finish_nothing},
    {".npz", begin_nothing, add_array, finish_array},
};
static const rows_format text_format = {"", begin_nothing, add_text, finish_text};
static const rows_format json_format = {"", begin_json, add_json, finish_json};
enum { ARRAYS = 2 };

const rows_format *rows_find_format(const char *path)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (mw__string_ends(path, formats[i].ending))
            return &formats[i];
    return NULL;
}

static bool is_written(const rows *r) { return r->path != NULL && r->format != &formats[ARRAYS]; }

bool rows_open(rows *r, const answer *a, const rows_settings *settings, const char *path, const tool_call *call)
{
    *r = (rows){.answer = a, .settings = *settings, .path = path, .err = call->err, .out = call->json};
    mw__text_init(&r->text, mw__allocator_or_default(NULL));
    r->file.folder = r->file.descriptor = -1;
    r->format = path != NULL ? rows_find_format(path) : call->json != NULL ? &json_format : &text_format;
    r->order = malloc((size_t)a->width * sizeof *r->order);
    if (r->order == NULL)
        mw__fail(r->err, MW_ERROR_MEMORY, "there is no memory for %lld classes", (long long)a->width);
    else if (!is_written(r) ||
             mw__file_writer_begin(&r->file, mw__allocator_or_default(NULL), path, true, r->err) == MW_OK)
        r->format->begin(r);
    return r->err->status == MW_OK;
}

static void flush(rows *r, size_t from)
{
    if (!is_written(r) || r->text.size < from || mw__text_check(&r->text, r->err) != MW_OK)
        return;
    mw__file_writer_write(&r->file, r->text.data, r->text.size, r->err);
    r->text.size = 0;
}

bool rows_add(rows *r, const rows_row *row)
{
    if (r->answer->task == ANSWER_CLASSES)
        sort_numbers(r, row->numbers);
    r->format->add(r, row);
    r->count++;
    flush(r, BUFFER);
    return r->err->status == MW_OK;
}

bool rows_finish(rows *r)
{
    r->format->finish(r);
    flush(r, 0);
    if (is_written(r) && r->err->status == MW_OK)
        mw__file_writer_commit(&r->file, r->err);
    return r->err->status == MW_OK;
}

void rows_close(rows *r)
{
    if (is_written(r))
        mw__file_writer_deinit(&r->file);
    mw__text_deinit(&r->text);
    free(r->order);
    free(r->kept);
}
