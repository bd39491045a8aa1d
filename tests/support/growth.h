/* Whether work grows with its size or with the square of it: four times as much takes about four times as long.
 * Processor time, the best of some runs, measured again where the machine was in the way: what grows with the square
 * stays at sixteen.
 *
 *     static growth_times of_names(int n) { growth_times t = {0}; double begin = growth_seconds(); ..
 *         growth_note(&t, "parse", begin); return t; }
 *     growth_check(of_names, 1000); */
#ifndef TESTS_SUPPORT_GROWTH_H
#define TESTS_SUPPORT_GROWTH_H

/* What one size takes, by part. */
enum { GROWTH_PARTS = 8 };
typedef struct growth_times {
    double part[GROWTH_PARTS];
    const char *name[GROWTH_PARTS];
    int count;
} growth_times;

typedef growth_times growth_measure(int n);

/* Of the process so far. */
double growth_seconds(void);
/* A part that began then and ends now. */
void growth_note(growth_times *t, const char *name, double begin);
/* Compares sizes n and 4 n. */
void growth_check(growth_measure *run, int n);

#endif
