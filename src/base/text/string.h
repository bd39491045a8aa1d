/* Questions about strings and characters, in the C locale. */
#ifndef MW__BASE_TEXT_STRING_H
#define MW__BASE_TEXT_STRING_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool mw__string_begins(const char *string, const char *start)
{
    return strncmp(string, start, strlen(start)) == 0;
}

/* Whether it ends so, with something before the ending: the path of a file, say, which is more than ".npz". */
static inline bool mw__string_ends(const char *string, const char *ending)
{
    const size_t length = strlen(string), own = strlen(ending);
    return length > own && strcmp(string + length - own, ending) == 0;
}

/* Either may be NULL, which is equal to NULL alone. */
static inline bool mw__string_equal(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Whether a line has nothing but blanks, tabs and carriage returns. */
static inline bool mw__string_is_blank(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
            return false;
    return true;
}

static inline bool mw__character_is_digit(char c) { return c >= '0' && c <= '9'; }

#endif
