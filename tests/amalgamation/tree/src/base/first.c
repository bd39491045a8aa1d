/* Names that the other file has too, with other meanings; "find" in texts and comments stays what it is. */
#include "base/shared.h"

#if defined(MW__NEVER)
#include "base/late.h"
#endif
/* #include "base/none.h" */
#define STEP      (1)
#define OWN(find) ((find) + STEP)
enum { SIZE = 1, SIZES };
typedef struct box {
    int find, find_count, SIZE_; /* members stay */
    int (*visit)(int find);
    struct cell {
        int box;
    } cell;
} box;
typedef enum kind { PLAIN = 1 } kind;

static int counter; /* one object for both files would be legal C */
static const int table[] = {[SIZES] = 1, 2};

static int find(int x) { return x + STEP; }
static int truncate(int x) { return -x * SIZE; }
static int visit(int find) { return OWN(find); }

static int add_once(int x) { return x * 1; }
MW__TWICE(add, 3)

#define BODY(unused)                                                                                                   \
    {                                                                                                                  \
        return SIZES;                                                                                                  \
    }
static int made(void) BODY() static int made_too(void) { return made() + 1; }

#define ROW(name, text) {#name " " text, name},
static const mw__printable rows[] = {
#include "base/words.def"
};

void mw_first(void)
{
    const mw__printable named = MW__NAMED(find);
    box b = {.find = find(1), .find_count = made_too(), .visit = visit, .cell.box = SIZE};
    const struct box *const p = &b;
    counter += STEP;
    printf("first: %s %d %d %d\n", named.text, named.call(0), p->find, (*p).find_count);
    printf("%d %d %d %d %zu\n", p->visit(1), (int)PLAIN, (kind)0 + p->cell.box, table[SIZES], offsetof(box, find));
    printf("%d %d %s\n", counter, MW__BOTH(add), "find SIZE STEP");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        printf("%s: %d\n", rows[i].text, rows[i].call(3));
}
