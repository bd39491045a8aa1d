/* What `./run check-ane` tries, each item in a process that may crash or hang. */
#ifndef TESTS_ANE_SECTION_H
#define TESTS_ANE_SECTION_H

#include <stddef.h>

enum { ANE_DETAIL = 400 };

/* What came of an item. The status is a word: "ok", "equal", "near", "differs", "refused", "failed", "absent"; of
 * questions "settled", "told" (a number without a switch), "new" (one that nobody expects), "taken". The parent adds
 * "crashed" and "hung". */
typedef struct ane_result {
    const char *status;
    char detail[ANE_DETAIL];
} ane_result;

typedef struct ane_section {
    const char *name;
    const char *(*item)(size_t index); /* its name; NULL behind the last */
    void (*run)(size_t index, ane_result *out);
} ane_section;

extern const ane_section ane_symbols, ane_client, ane_questions, ane_operations, ane_training, ane_times;

/* All of them in the order of the report; NULL behind the last. */
const ane_section *ane_section_at(size_t index);
const ane_section *ane_section_named(const char *name);

/* Fills a result. */
void ane_say(ane_result *out, const char *status, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
