/* The files of golden.h. */
#include "golden.h"
#include "support/check.h"

#include <stdlib.h>

enum { TEXT_MAX = 1 << 16 };

static FILE *open_golden(const char *prefix, const char *name, const char *when, const char *mode)
{
    char path[512];
    snprintf(path, sizeof path, "%s/data/mil/%s_%s_%s.mil", MW_TESTS_DIR, prefix, name, when);
    FILE *file = fopen(path, mode);
    check_note(file != NULL, __FILE__, __LINE__, "cannot open %s", path);
    return file;
}

char *golden_read(const char *prefix, const char *name, const char *when)
{
    char *text = calloc(1, TEXT_MAX);
    FILE *file = open_golden(prefix, name, when, "rb");
    if (file != NULL) {
        text[fread(text, 1, TEXT_MAX - 1, file)] = '\0';
        fclose(file);
    }
    return text;
}

static void write_after(const char *prefix, const char *name, const char *text)
{
    FILE *file = open_golden(prefix, name, "after", "wb");
    if (file != NULL) {
        fputs(text, file);
        fclose(file);
    }
}

void golden_check(const char *prefix, const char *name, const char *got)
{
    if (getenv("MW_UPDATE_GOLDENS") != NULL)
        write_after(prefix, name, got);
    char *after = golden_read(prefix, name, "after");
    CHECK_STR(got, after);
    free(after);
}
