#include "base/file/temporary.h"
#include "base/number/hash.h"
#include "base/text/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ENDING_BYTES = 31, STEM_MOST = MW__NAME_BYTES - ENDING_BYTES, HASH_BYTES = 17 };

/* How many of the first bytes can stay without cutting a character: some file systems take UTF-8 alone. */
static int bytes_kept(const char *name)
{
    const char *at = name, *end = name + strlen(name), *most = name + STEM_MOST - HASH_BYTES;
    for (;;) {
        const size_t length = mw__utf8_length(at, end);
        if (at + (length > 0 ? length : 1) > most)
            return (int)(at - name);
        at += length > 0 ? length : 1;
    }
}

void mw__temporary_stem(char out[MW__NAME_BYTES], const char *name)
{
    const size_t length = strlen(name);
    if (length <= STEM_MOST)
        memcpy(out, name, length + 1);
    else
        snprintf(out, MW__NAME_BYTES, "%.*s-%016" PRIx64, bytes_kept(name), name, mw__hash64(name, length, 0));
}

void mw__temporary_name(char out[MW__NAME_BYTES], const char *name, int attempt)
{
    char stem[MW__NAME_BYTES];
    mw__temporary_stem(stem, name);
    snprintf(out, MW__NAME_BYTES, "%.*s.%ld-%d.tmp", STEM_MOST, stem, (long)getpid(), attempt);
}

bool mw__temporary_is_of(const char *entry, const char *name)
{
    char stem[MW__NAME_BYTES];
    mw__temporary_stem(stem, name);
    const size_t length = strlen(stem);
    if (strncmp(entry, stem, length) != 0 || entry[length] != '.')
        return false;
    const char *first = entry + length + 1;
    const size_t process = strspn(first, "0123456789");
    if (process == 0 || first[process] != '-')
        return false;
    const char *second = first + process + 1;
    const size_t number = strspn(second, "0123456789");
    return number > 0 && strcmp(second + number, ".tmp") == 0;
}
