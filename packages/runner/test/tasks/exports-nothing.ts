export const notATask = 1
