/* The segmenter that the engine of this library is given. */
#ifndef MW__CHIP_COST_ENGINE_H
#define MW__CHIP_COST_ENGINE_H

/* May be called as often as one likes, by any thread. */
void mw__chip_give_segmenter(void);

#endif
