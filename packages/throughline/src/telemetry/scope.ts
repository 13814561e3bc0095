/** Under which spans and instruments of this package are found. */
export const scope = 'throughline';
