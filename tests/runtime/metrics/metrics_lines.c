#include "metrics_lines.h"
#include "runtime/files.h"
#include "support/check.h"

#include <stdlib.h>

lines lines_read(const char *path)
{
    lines all = {0};
    size_t size = 0;
    unsigned char *data = get_file(path, &size);
    if (!CHECK(data != NULL))
        return all;
    const char *end = (const char *)data + size;
    for (const char *at = (const char *)data, *stop; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        if (!CHECK(stop != NULL && stop - at < LINE_BYTES))
            break;
        all.text = realloc(all.text, (all.count + 1) * sizeof *all.text);
        snprintf(all.text[all.count++], LINE_BYTES, "%.*s", (int)(stop - at), at);
    }
    free(data);
    return all;
}

void lines_free(lines *all)
{
    free(all->text);
    *all = (lines){0};
}

const char *lines_at(const lines *all, const char *kind, size_t index)
{
    for (size_t i = 0; i < all->count; i++)
        if (line_says(all->text[i], "kind", kind) && index-- == 0)
            return all->text[i];
    return NULL;
}

size_t lines_count(const lines *all, const char *kind)
{
    size_t count = 0;
    while (lines_at(all, kind, count) != NULL)
        count++;
    return count;
}

static const char *value_of(const char *line, const char *key)
{
    char quoted[256];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *found = line != NULL ? strstr(line, quoted) : NULL;
    return found != NULL ? found + strlen(quoted) : NULL;
}

bool line_has(const char *line, const char *key) { return value_of(line, key) != NULL; }

double line_number(const char *line, const char *key)
{
    const char *value = value_of(line, key);
    char *end = NULL;
    const double number = value != NULL ? strtod(value, &end) : 0.0;
    return value != NULL && end != value ? number : (double)NAN;
}

bool line_says(const char *line, const char *key, const char *text)
{
    const char *value = value_of(line, key);
    return value != NULL && value[0] == '"' && strncmp(value + 1, text, strlen(text)) == 0 &&
           value[1 + strlen(text)] == '"';
}
