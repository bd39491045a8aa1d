/* Tables that are small, wrong or odd, given to mw train as they are: each is learned, or refused with file, line,
 * field and what to do. */
#include "support/check.h"
#include "support/folder.h"
#include "tool/shell.h"

#include <stdlib.h>
#include <string.h>

static void put_bytes(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL);
    fwrite(text, 1, size, file);
    fclose(file);
}

static void check_file(const char *path, const char *text, size_t size, const char *says)
{
    put_bytes(path, text, size);
    shell_result r = MW("train", path, "--epochs", "1", "--threads", "1", "-q");
    check_note((says == NULL) == (r.code == 0) && (says == NULL || strstr(r.errs, says) != NULL), __FILE__, __LINE__,
               "%s, \"%.60s\": code %d, %s", path, text, r.code, r.errs);
    shell_free(&r);
}

#define ODD(path, text, says)                                                                                          \
    {                                                                                                                  \
        path, text, sizeof text - 1, says                                                                              \
    }

static void test_odd_tables_are_learned_or_refused_with_their_place(void)
{
    static const struct {
        const char *path, *text;
        size_t size;
        const char *says; /* NULL = it is learned */
    } rows[] = {
        ODD("o.csv", "", "\"o.csv\", line 1: it is empty"),
        ODD("o.csv", "a,y\n", "\"o.csv\" has no rows"),
        ODD("o.csv", "y\n1\n2\n", "the table has no field besides the target \"y\""),
        ODD("o.csv", "a,y\n1,p\n", "all rows have the class \"p\""),
        ODD("o.csv", "a,y\n1,1.5\n", NULL),
        ODD("o.csv", "a,y\n1,p\n2,p\n3,p\n", "all rows have the class \"p\""),
        ODD("o.csv", "a,y\n7,p\n7,q\n7,p\n", NULL),
        ODD("o.csv", "a,a,y\n1,2,p\n3,4,q\n5,6,p\n", NULL),
        ODD("o.csv", "a,y\n1,p\n2,q,r\n", "\"o.csv\", line 3: it has 3 fields, the first line has 2"),
        ODD("o.csv", "a,y\nNaN,p\n2,q\n,p\n", NULL),
        ODD("o.csv", "a,y\ninf,p\n2,q\n3,p\n", NULL),     /* a word among few */
        ODD("o.csv", "a,y\n1,0.5\n2,inf\n3,1.5\n", NULL), /* words: classes */
        ODD("o.csv", "a,y\n1e39,p\n2,q\n3,p\n", "field \"a\": \"1e39\" is no number that fp32 has; mend it"),
        ODD("o.csv", "a,y\n1,p\n2,\n3,q\n", "line 3, field \"y\": the target is missing; leave the row out"),
        ODD("o.csv", "a;y\n1,5;p\n2,5;q\n", NULL),
        ODD("o.csv", "n\xe4m,y\n\xfc,p\n\xdf,q\n\xe9,p\n", NULL),                       /* Latin 1 */
        ODD("o.csv", "\xff\xfe\x61\0,\0y\0\n\0\x31\0,\0p\0\n\0\x32\0,\0q\0\n\0", NULL), /* UTF-16 */
        ODD("o.csv", "a,y\n\"1,p\n2,q\n", "line 2: the quote is not closed"),
        ODD("o.csv", "a,y\nx\0z,p\n2,q\n", "\"o.csv\", line 2, field \"a\""),
        ODD("o.tsv", "a\ty\n1\tp\n2\tq\n", NULL),
        ODD("o.jsonl", "", "o.jsonl"),
        ODD("o.jsonl", "[1]\n", "line 1: the line is no JSON object"),
        ODD("o.jsonl", "{\"a\": 1, \"y\": \"p\"}\n{\"a\": null, \"y\": \"q\"}\n", NULL),
        ODD("o.jsonl", "{\"a\": [1, 2], \"y\": \"p\"}\n{\"a\": [], \"y\": \"q\"}\n", NULL),
        ODD("o.jsonl", "{\"a\": [[1]], \"y\": \"p\"}\n", "the table has no field besides the target"),
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_file(rows[i].path, rows[i].text, rows[i].size, rows[i].says);
}

/* A cell of 10^6 bytes is a text, and no number. */
static void test_lines_of_a_million_bytes_are_read(void)
{
    enum { LONG = 1000000 };
    char *text = malloc(LONG + 64);
    REQUIRE(text != NULL);
    memcpy(text, "a,b,y\n1,", 8);
    memset(text + 8, 'x', LONG);
    memcpy(text + 8 + LONG, ",p\n2,z,q\n3,z,p\n", 16);
    check_file("long.csv", text, 8 + LONG + 15, NULL);
    free(text);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_odd_tables_are_learned_or_refused_with_their_place);
    RUN(test_lines_of_a_million_bytes_are_read);
    folder_leave(folder);
    return check_finish();
}
