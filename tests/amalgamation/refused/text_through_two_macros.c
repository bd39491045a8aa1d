/* The name would become text after it was changed. */
#include "base/shared.h"

#define WITHIN(name) #name
#define AROUND(name) WITHIN(name)

static int find(int x) { return x; }
static const char *const text = AROUND(find);
const char *mw_text(void) { return find(0) == 0 ? text : ""; }
