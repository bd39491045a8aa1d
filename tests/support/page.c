#include "support/page.h"

#include "support/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

page page_make(size_t limit) { return (page){.text = calloc(1, limit), .limit = limit}; }

void page_put(page *p, const char *format, ...)
{
    va_list arguments;
    if (p->text == NULL || p->used >= p->limit)
        return;
    va_start(arguments, format);
    p->used += (size_t)vsnprintf(p->text + p->used, p->limit - p->used, format, arguments);
    va_end(arguments);
    CHECK(p->used < p->limit);
}

void page_free(page *p)
{
    free(p->text);
    *p = (page){0};
}

static char *read_file(FILE *file)
{
    char *text = NULL;
    long size = 0;
    if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0)
        text = calloc(1, (size_t)size + 1);
    if (text != NULL)
        text[fread(text, 1, (size_t)size, file)] = '\0';
    return text;
}

char *page_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    char *text = read_file(file);
    fclose(file);
    return text;
}

bool page_updates(void) { return getenv("MW_UPDATE_GOLDENS") != NULL; }

void page_check(const char *path, const char *text)
{
    FILE *file = page_updates() ? fopen(path, "wb") : NULL;
    if (file != NULL) {
        fputs(text, file);
        fclose(file);
    }
    char *found = page_read(path);
    CHECK_STR(found != NULL ? found : "", text);
    free(found);
}

/* The file with another section: what stands before `from`, the text, and what stands from `to` on. */
static void write_section(const char *path, const char *whole, const char *from, const char *to, const char *text)
{
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL);
    fwrite(whole, 1, (size_t)(from - whole), file);
    fputs(text, file);
    fputs(to, file);
    fclose(file);
}

void page_check_section(const char *path, const char *name, const char *text)
{
    char begin[64], end[64];
    char *whole = page_read(path);
    snprintf(begin, sizeof begin, "<!-- begin %s -->\n", name);
    snprintf(end, sizeof end, "<!-- end %s -->\n", name);
    const char *from = whole != NULL ? strstr(whole, begin) : NULL, *to = whole != NULL ? strstr(whole, end) : NULL;
    REQUIRE(from != NULL && to != NULL);
    from += strlen(begin);
    const size_t size = (size_t)(to - from);
    const bool same = size == strlen(text) && memcmp(from, text, size) == 0;
    if (!same && page_updates())
        write_section(path, whole, from, to, text);
    else
        check_note(same, __FILE__, __LINE__, "%s, section %s, is stale: run this test with MW_UPDATE_GOLDENS=1", path,
                   name);
    free(whole);
}
