/* What main.c prints: one text of each file. */
#ifndef MILLWRIGHT_TRAPS_H
#define MILLWRIGHT_TRAPS_H

#ifdef __cplusplus
extern "C" {
#endif

void mw_first(void);
void mw_second(void);

#ifdef __cplusplus
}
#endif

#endif
