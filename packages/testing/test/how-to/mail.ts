// mail.ts: how mail is sent
export const mail = {
  async send(to: string, subject: string): Promise<void> {
    throw new Error(`there is no mail server yet: "${subject}" to ${to}`)
  },
}
