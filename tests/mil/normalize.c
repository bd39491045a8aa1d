/* See normalize.h. Cuts into words, then rebuilds each bracket group with its named entries sorted. */
#include "mil/normalize.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct word {
    const char *text;
    size_t length;
} word;

typedef struct words {
    word *items;
    size_t count, at;
} words;

typedef struct string {
    char *data;
    size_t size;
} string;

static void add(string *out, const char *text, size_t length)
{
    out->data = realloc(out->data, out->size + length + 2);
    memcpy(out->data + out->size, text, length);
    out->size += length;
    out->data[out->size] = '\0';
}

static void add_word(string *out, const char *text, size_t length)
{
    add(out, text, length);
    add(out, " ", 1);
}

static bool is(const words *w, size_t i, const char *text)
{
    return i < w->count && w->items[i].length == strlen(text) && memcmp(w->items[i].text, text, strlen(text)) == 0;
}

static size_t word_length(const char *s, const char *end)
{
    static const char part[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@.";
    const char *p = s;
    if (*s == '"') {
        for (p++; p < end && *p != '"'; p++)
            p += *p == '\\';
        return (size_t)(p + 1 - s);
    }
    if (end - s > 1 && s[0] == '-' && s[1] == '>')
        return 2;
    if (*p == '-')
        p++;
    while (p < end && (strchr(part, *p) != NULL || ((*p == '-' || *p == '+') && strchr("eEpP", p[-1]) != NULL)))
        p++;
    return p == s ? 1 : (size_t)(p - s);
}

static words cut(const char *text, size_t size)
{
    words w = {.items = calloc(size + 1, sizeof(word))};
    const char *end = text + size;
    for (const char *s = text; s < end;) {
        if (strchr(" \t\r\n", *s) != NULL) {
            s++;
            continue;
        }
        const size_t length = word_length(s, end);
        w.items[w.count++] = (word){s, length};
        s += length;
    }
    return w;
}

static bool is_compound(const words *w, size_t i)
{
    static const char *const names[] = {"tensor", "list", "dict", "tuple", "state"};
    for (size_t k = 0; k < 5; k++)
        if (is(w, i, names[k]) && is(w, i + 1, "<"))
            return true;
    return false;
}

static bool is_element_type(const words *w, size_t i)
{
    static const char *const names[] = {"fp16",  "fp32",  "fp64",   "bf16",   "int8",   "int16", "int32",
                                        "int64", "uint8", "uint16", "uint32", "uint64", "int4",  "uint1",
                                        "uint2", "uint3", "uint4",  "uint6",  "bool",   "string"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (is(w, i, names[k]))
            return true;
    return false;
}

static size_t type_end(const words *w, size_t i)
{
    if (!is_compound(w, i))
        return i + 1;
    int depth = 0;
    for (i++; i < w->count; i++) {
        depth += is(w, i, "<") - is(w, i, ">");
        if (depth == 0)
            return i + 1;
    }
    return i;
}

/* tensor<T, []> is T. */
static void add_type(string *out, const words *w, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        if (is(w, i, "tensor") && is(w, i + 4, "[") && is(w, i + 5, "]")) {
            add_word(out, w->items[i + 2].text, w->items[i + 2].length);
            i += 6;
        } else {
            add_word(out, w->items[i].text, w->items[i].length);
        }
    }
}

static double round_half(double x)
{
    if (!isfinite(x) || x == 0)
        return x;
    int exponent;
    frexp(x, &exponent);
    const double unit = ldexp(1.0, (exponent < -13 ? -13 : exponent) - 11);
    const double rounded = nearbyint(x / unit) * unit;
    return fabs(rounded) > 65504 ? copysign(INFINITY, x) : rounded;
}

static void add_number(string *out, const word *number, const word *type)
{
    char text[128], buffer[128];
    snprintf(text, sizeof text, "%.*s", number->length > 120 ? 120 : (int)number->length, number->text);
    const bool half = type->length == 4 && memcmp(type->text, "fp16", 4) == 0;
    const bool single = type->length == 4 && memcmp(type->text, "fp32", 4) == 0;
    if (half)
        snprintf(buffer, sizeof buffer, "%a", round_half(strtod(text, NULL)));
    else if (single)
        snprintf(buffer, sizeof buffer, "%a", (double)strtof(text, NULL));
    else
        snprintf(buffer, sizeof buffer, "%s", text);
    add_word(out, buffer, strlen(buffer));
}

static void group(words *w, string *out, const char *close);

/* type ( payload ), at the opening bracket; element types only. */
static void tensor_payload(words *w, string *out, const word *type)
{
    add_word(out, "(", 1);
    int depth = 1;
    for (w->at++; w->at < w->count; w->at++) {
        if (is(w, w->at, "BLOBFILE")) {
            w->at += 2;
            add(out, "BLOBFILE(", 9);
            group(w, out, ")");
            w->at--;
            continue;
        }
        depth += is(w, w->at, "(") - is(w, w->at, ")");
        if (depth == 0)
            break;
        const char first = w->items[w->at].text[0];
        if (first == '[' || first == ']')
            continue;
        if (first == '"' || first == ',')
            add_word(out, w->items[w->at].text, w->items[w->at].length);
        else
            add_number(out, &w->items[w->at], type);
    }
    w->at++;
    add_word(out, ")", 1);
}

static void item(words *w, string *out)
{
    static const char *const pairs[] = {"(", ")", "[", "]", "{", "}"};
    if (is_compound(w, w->at) || is_element_type(w, w->at)) {
        const size_t end = type_end(w, w->at);
        const bool tensor = is(w, w->at, "tensor") || !is_compound(w, w->at);
        const word type = w->items[is(w, w->at, "tensor") ? w->at + 2 : w->at];
        add_type(out, w, w->at, end);
        w->at = end;
        if (tensor && is(w, w->at, "("))
            tensor_payload(w, out, &type);
        return;
    }
    for (size_t i = 0; i < 6; i += 2)
        if (is(w, w->at, pairs[i])) {
            w->at++;
            add_word(out, pairs[i], 1);
            group(w, out, pairs[i + 1]);
            return;
        }
    add_word(out, w->items[w->at].text, w->items[w->at].length);
    w->at++;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const string *)a)->data, ((const string *)b)->data);
}

/* Entries up to the closing bracket (NULL = the end), sorted if each is named. */
static void group(words *w, string *out, const char *close)
{
    string *entries = calloc(w->count - w->at + 2, sizeof *entries);
    size_t count = 0;
    bool named = true;
    while (w->at < w->count && (close == NULL || !is(w, w->at, close))) {
        named = named && is(w, w->at + 1, "=");
        add(&entries[count], "", 0);
        while (w->at < w->count && !is(w, w->at, ",") && (close == NULL || !is(w, w->at, close)))
            item(w, &entries[count]);
        count++;
        if (is(w, w->at, ","))
            w->at++;
    }
    w->at++;
    if (named)
        qsort(entries, count, sizeof *entries, compare);
    for (size_t i = 0; i < count; i++) {
        add(out, entries[i].data, entries[i].size);
        add(out, i + 1 < count ? ", " : "", i + 1 < count ? 2 : 0);
        free(entries[i].data);
    }
    free(entries);
    if (close != NULL)
        add_word(out, close, 1);
}

char *normalize(const char *text, size_t size)
{
    words w = cut(text, size);
    string out = {0};
    add(&out, "", 0);
    group(&w, &out, NULL);
    free(w.items);
    return out.data;
}
