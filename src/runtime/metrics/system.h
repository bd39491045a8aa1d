/* What the system tells of this process and the machine. */
#ifndef MW__RUNTIME_METRICS_SYSTEM_H
#define MW__RUNTIME_METRICS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

/* Resident bytes of the process; negative = the system does not tell. */
double mw__system_resident(void);

/* The counters of energy that the processor packages have (RAPL, where /sys lets one read them). They wrap. */
enum { MW__PACKAGES_MAX = 16 };
typedef struct mw__energy {
    int count; /* 0 = the system does not tell */
    double last[MW__PACKAGES_MAX], range[MW__PACKAGES_MAX], joules;
} mw__energy;
void mw__energy_begin(mw__energy *energy);
/* Joules since then; negative = the system does not tell. Called at least every few minutes, as counters wrap. */
double mw__energy_read(mw__energy *energy);
/* The same of another folder, for tests. */
void mw__energy_begin_in(mw__energy *energy, const char *folder);
double mw__energy_read_in(mw__energy *energy, const char *folder);

/* "Linux 6.1.0 x86_64", and the processor's name, "" if it is not known: nothing that tells one machine from others of
 * its kind. Return `out`. */
const char *mw__system_name(char *out, size_t size);
const char *mw__system_processor(char *out, size_t size);

#endif
